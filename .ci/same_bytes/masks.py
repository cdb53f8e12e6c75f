"""What differs between two runs of one and the same binary, and is therefore masked before two outputs are compared.

The whole list:

1. The scratch folder is PLACE, the port of the stand-in server is PORT, a binary's own version is VERSION.
2. A moment within 60 days of the run (ISO text, handoff id, seconds, milliseconds or nanoseconds since 1970) becomes its
   distance from the scenario's start, rounded to ten minutes: <now>, <now+2:00:00>. Notes with fixed times are older than that.
3. Durations: "ms" fields, "Time 0.7 ms", "in 3 ms", tables of stages. Stages are listed in the order in which they ended,
   which depends on threads: only the set of names is kept. The peak memory that --timings tells goes, too.
4. Process ids: "pid" fields, "process 123".
5. The SHA-256 of a context that quotes a handoff, because the handoff's id has the time in it (scenarios with handoffs only).

In dumps of state.db also: columns of process ids and their start times, and the random token of a claim.
"""
import datetime
import json
import re

STEP = 600
NEAR = 60 * 86_400


class Masks:
    """The masks of one scenario, for one binary."""

    def __init__(self, place, start, version):
        self.place, self.start, self.version = str(place), start, version
        self.port = None
        self.hides_hashes = False

    def distance(self, seconds):
        """A moment near the run, by its distance from the start; None of one that is not near."""
        if abs(seconds - self.start) > NEAR:
            return None
        steps = round((seconds - self.start) / STEP)
        if steps == 0:
            return "<now>"
        span = datetime.timedelta(seconds=abs(steps) * STEP)
        return f"<now{'+' if steps > 0 else '-'}{span}>".replace(" ", "")

    def apply(self, text):
        text = text.replace(self.place, "PLACE").replace(self.place.replace("/", "-"), "-PLACE")
        text = text.replace(self.place.replace("/", "%2F"), "PLACE%2F")
        text = re.sub(rf"\b{re.escape(self.version)}\b", "VERSION", text)
        if self.port:
            text = text.replace(f":{self.port}", ":PORT")
        text = re.sub(r"\b(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?Z", self._iso, text)
        text = re.sub(r"\b(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d)(?::(\d\d))?\b", self._iso, text)
        text = re.sub(r"\bHO-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-", self._id, text)
        text = re.sub(r"(?<![\w.])(\d{10}|\d{13}|\d{19})(?![\w.])", self._number, text)
        text = re.sub(r'"stages":\[.*?\]', self._stages, text)
        text = re.sub(r'"ms":[\d.]+', '"ms":<ms>', text)
        text = re.sub(r"\nms: (.*)", self._stage_line, text)
        text = re.sub(r"(?<=Time) +[\d.,]+ ?(ms|s)\b", " <ms>", text)
        text = re.sub(r"(?<= in )[\d.,]+ ?(ms|s)\b", "<ms>", text)
        text = re.sub(r'(?:<tr><th scope="row">\w+</th><td class="number">[\d.]+</td><td class="time">.*?</tr>\n?)+', self._stage_rows, text)
        text = re.sub(r'("\w*pid":)\d+', r"\1<pid>", text)
        text = re.sub(r"\bprocess \d+", "process <pid>", text)
        if self.hides_hashes:
            text = re.sub(r"\b([0-9a-f]{64}\b|[0-9a-f]{12}…)", "<sha256>", text)
        return text

    def timings(self, text):
        """The table of --timings: only which stages there were."""
        return "\n".join(sorted(line.split()[0] for line in text.splitlines() if line.strip())) + "\n"

    def _iso(self, found):
        parts = [int(part or 0) for part in found.groups()[:6]]
        try:
            moment = datetime.datetime(*parts, tzinfo=datetime.timezone.utc)
        except ValueError:
            return found[0]
        return self.distance(moment.timestamp()) or found[0]

    def _id(self, found):
        parts = [int(part) for part in found.groups()]
        try:
            moment = datetime.datetime(*parts, tzinfo=datetime.timezone.utc)
        except ValueError:
            return found[0]
        distance = self.distance(moment.timestamp())
        return f"HO-{distance}-" if distance else found[0]

    def _number(self, found):
        seconds = int(found[1]) / 10 ** (len(found[1]) - 10)
        return self.distance(seconds) or found[0]

    @staticmethod
    def _stages(found):
        try:
            stages = json.loads("{" + found[0] + "}")["stages"]
        except ValueError:
            return found[0]
        return '"stages":<' + " ".join(sorted({stage["name"] for stage in stages})) + ">"

    @staticmethod
    def _stage_rows(found):
        return "<tr>" + " ".join(sorted(set(re.findall(r'<th scope="row">(\w+)</th>', found[0])))) + "</tr>\n"

    @staticmethod
    def _stage_line(found):
        return "\nms: " + " ".join(sorted({stage.split()[0] for stage in found[1].split(", ")}))

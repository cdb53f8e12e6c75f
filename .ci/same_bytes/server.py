"""A stand-in for an OpenCode server: sessions, messages and events from memory, and a record of what was posted."""
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class OpencodeServer:
    """Serves on a free port of this machine until the block ends."""

    def __init__(self, lab):
        self.lab = lab
        self.sessions, self.messages, self.statuses = {}, {}, {}
        self.posted, self.listeners = [], []
        self.refusal = None

    def session(self, id, directory, now_ms, **more):
        self.sessions[id] = {"id": id, "directory": str(directory), "title": "New session", "time": {"created": now_ms, "updated": now_ms}, **more}
        self.messages.setdefault(id, [])
        return self.sessions[id]

    def announce(self, kind, properties):
        for listener in list(self.listeners):
            listener.put({"type": kind, "properties": properties})

    def __enter__(self):
        here = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                here.get(self)

            def do_POST(self):
                here.post(self)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.lab.masks.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            listener.put(None)
        self.http.shutdown()
        self.http.server_close()
        posted = "".join(json.dumps(body, indent=1, ensure_ascii=False) + "\n" for body in self.posted)
        self.lab.record("what the server was sent", posted)

    def get(self, request):
        path = urlsplit(request.path).path
        parts = path.strip("/").split("/")
        if path in ("/event", "/global/event"):
            return self.events(request, is_wrapped=path == "/global/event")
        answers = {"/global/health": {"healthy": True, "version": "1.18.33"}, "/session/status": self.statuses, "/agent": [{"name": "build", "mode": "primary"}],
                   "/config/providers": {"providers": [{"id": "mock", "models": {"small": {}}}]},
                   "/experimental/session": list(self.sessions.values()), "/session": list(self.sessions.values())}
        if path in answers:
            return self.answer(request, answers[path])
        if parts[0] == "session" and len(parts) > 1 and parts[1] in self.sessions:
            return self.answer(request, self.messages[parts[1]] if parts[2:] == ["message"] else self.sessions[parts[1]])
        return self.answer(request, {"name": "NotFoundError", "data": {"message": "Session not found"}}, 404)

    def post(self, request):
        id = urlsplit(request.path).path.strip("/").split("/")[1]
        body = json.loads(request.rfile.read(int(request.headers["content-length"])))
        self.posted.append({"session": id, "body": body})
        if self.refusal:
            return self.answer(request, {"name": "Error", "data": {"message": "not today"}}, self.refusal)
        message = {"info": {"id": f"msg_{len(self.posted)}", "role": "user"}, "parts": body.get("parts", [])}
        self.messages[id].append(message)
        return self.answer(request, message)

    @staticmethod
    def answer(request, value, status=200):
        body = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def events(self, request, is_wrapped):
        listener = queue.Queue()
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.send_header("connection", "close")
        request.end_headers()
        request.close_connection = True
        self.listeners.append(listener)
        event = {"type": "server.connected", "properties": {}}
        try:
            while event:
                event = {"directory": "/", "payload": event} if is_wrapped else event
                request.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                request.wfile.flush()
                event = listener.get()
        except OSError:
            pass

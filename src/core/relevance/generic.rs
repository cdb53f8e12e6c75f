//! Words of prompts that say what is to be done and not what it is about: "continue", "fix the bug". They stand in many notes
//! all the same, and bring none.

use crate::core::relevance::prompt::is_stop_word;
use crate::core::search::{forms, fulltext};
use crate::core::text::words::words;

/// Of languages with blanks, as whole words.
const WORDS: [&str; 633] = words(
    "ab aber add added adding again agrega ahora ajoute ajouter al all alle alles already als also am an \
     anders anfang another anything app apply approach archivo arregla ask asked así auch auf aufgabe aus \
     avec back bad bau baue beheb behebe beheben behoben bei best better bien bis bit bitte both branch \
     brauche break broken bug bugs build builds call ce ces cette change changed changes changing check \
     clean cleanup close code codebase command comme commit commits como compile complete con continuar \
     continue continuer continúa correct corregir corrige corriger create creating cuando current cómo da \
     danach danke dann dans das dass datei dateien de debug default delete dem den denn deploy der des \
     detail details die dies diese diesem diesen dieser dieses different dir directory doc doch docs \
     documentation doing done dort down du durch each edit ein eine einem einen einer eines einfach \
     einmal ejecuta el ella elle else en encore ensure entferne er erklär erkläre erreur erreurs error \
     errores errors erst es est esta este esto et etwas even every everything example execute exist \
     existing explain exécute fail failed failing fails failure failures faire fait fang favor feature \
     features fehler fertig few fichier file files final find fine finish first fix fixed fixes fixing \
     folder follow following fortfahren fortsetzen found full function functions funktion funktioniert \
     füge führe für ganz geh gehe geht genau gerade gib gibt give given go goes going good gracias great \
     gut haben hacer hallo handle happen happens hast hat haz hello help hey hi hier hilf hinzu hola \
     however ich idea ihr il im immer implement implementation implemented implementing improve in \
     install instead issue issues ist ja je jetzt kannst keep kein keine know korrigiere können könntest \
     la lance las lass last later latest lauf laufen le les let lets lies ligne like line lines list \
     little ll lo look looking looks los läuft lösche mach mache machen made main maintenant mais make \
     makes making mal man many maybe mehr mein meine merci merge mi mich mind mir missing mit moi more \
     most move much muss must muy más nach name need needed needs neu neue neuen neuer neues never new \
     next nice nicht nichts noch nochmal nothing nous nouveau nouvelle now nuestro nueva nuevo nun nur \
     nächste nächsten nächster nächstes oder ok okay old on once one ones only open option order other \
     otherwise ou oui out over own par para part pas path pero place plan please point por possible pour \
     previous probably problem problems problème proceed project projekt prueba pruebas prüf prüfe pull \
     push put que question qui quick quickly qué re read ready really refactor refactoring remaining \
     remove rename repariere repo report repository request rest result results resume return revert \
     review rewrite right run running runs same sans save say schau schreib schreibe schritt schritte se \
     section see seems sehr seite session set setup several shall ship short show si sich sie sigue \
     siguiente simple simply sin since sind small so sobre soll sollen sollte solve some something start \
     starte started state status step steps still stop su such suche suggest suite summarize summary \
     support sur sure ta take task tasks tell tes test teste tested testen testing tests than thank \
     thanks therefore thing things think though through time today todo todos together told ton too tout \
     try trying tu tun two type um un una und under understand undo une uno uns unser unsere unserem \
     unseren unter until up update updated updates updating us use used using vamos ve version very via \
     vom von vor vous wait want war warning warum was way weiter weitermachen well wenn wer werden \
     whatever while why wie wieder wir wird without wo wollen work working works write written wrong \
     würde y ya yes yesterday yet zeig zeige zu zuerst zum zur zwischen ändere über überprüfe",
);
/// As the beginnings of words, which end with particles.
const KOREAN: [&str; 26] = words(
    "경우 계속 고쳐 구현 그거 다음 문제 버그 변경 부탁 삭제 수정 실패 실행 오류 이거 작업 진행 추가 코드 테스트 파일 하고 해주 해줘 확인",
);
/// Anywhere in a run without blanks.
const IN_RUNS: [&str; 85] = words(
    "お願い ください こと もの エラー コード テスト バグ ファイル 一下 下さい 下一步 什么 今 代码 代碼 作成 作業 修复 修復 修改 修正 全て 全部 删除 削除 前回 動か 動作 問題 \
     執行 場合 変更 失敗 失败 好的 实现 実行 実装 實現 対応 帮我 幫我 必要 怎么 我们 我們 执行 改善 教え 文件 更新 最初 检查 檢查 次 测试 添加 測試 现在 現在 直し 直して \
     直す 確認 続き 続け 繼續 继续 解释 説明 謝謝 请 请问 谢谢 运行 这个 追加 這個 進め 運行 那个 錯誤 错误 问题",
);

/// Whether a word, in lower case, tells nothing about a subject.
pub(super) fn is_generic(word: &str) -> bool {
    let beginning = forms::beginning(word);
    is_stop_word(word)
        || WORDS.contains(&word)
        || KOREAN.iter().any(|generic| word.starts_with(generic))
        || word.chars().nth(1).is_none()
        || word.chars().all(|c| c.is_ascii_digit())
        || beginning.is_some_and(|beginning| WORDS.contains(&beginning))
}

/// The parts of a word that [`fulltext::terms`] gave and that tell something: what is left of a run without blanks.
pub(super) fn telling_parts(term: &str) -> Vec<String> {
    if !fulltext::is_run(term) {
        return if is_generic(term) { Vec::new() } else { vec![term.to_owned()] };
    }
    let mut rest = term.to_owned();
    for generic in IN_RUNS {
        rest = rest.replace(generic, " ");
    }
    let is_telling =
        |part: &&str| part.chars().nth(1).is_some() && !part.chars().all(fulltext::is_hiragana);
    rest.split(' ').filter(is_telling).map(str::to_owned).collect()
}

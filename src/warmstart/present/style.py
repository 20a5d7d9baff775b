"""The one style sheet of every page, with the colors that plots use by name.

Pages follow the reader's light or dark setting, print well, and work at 400 pixels: plots are drawn
once for wide and once for narrow screens, and the style shows the one that fits.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root{--bg:#fbfbf9;--panel:#fff;--ink:#1d2330;--soft:#5c6577;--line:#dfe2e8;--grid:#e9ebf0;
--main:#2b5fb3;--band:#2b5fb32b;--bad:#b83a3a;--good:#2f7d4f;--open:#8a6d1d;--other:#8a94a6}
@media (prefers-color-scheme:dark){:root{--bg:#14171d;--panel:#1b1f27;--ink:#e6e9ef;--soft:#9aa4b5;
--line:#303644;--grid:#272c37;--main:#7aa7f0;--band:#7aa7f033;--bad:#ef8585;--good:#73c794;
--open:#dcb95c;--other:#6f7a8d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1040px;margin:0 auto;padding:36px 24px 60px}
header{border-bottom:1px solid var(--line);margin-bottom:22px}
h1{font-size:27px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:18px;margin:38px 0 10px}
.sub,.note,figcaption,.detail,footer{color:var(--soft)}
.sub{margin:0 0 16px}.note,figcaption,footer{font-size:13px}
p{margin:8px 0;max-width:78ch}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px}
.card,figure,.callout{background:var(--panel);border:1px solid var(--line);border-radius:8px}
.card{padding:12px 14px}.value{font-size:24px;font-weight:650;letter-spacing:-.01em}
.label{font-weight:550}.detail{font-size:12.5px;line-height:1.4}
.callout{border-left:5px solid var(--other);padding:12px 16px;margin:10px 0}
.callout strong{text-transform:uppercase;font-size:12.5px;letter-spacing:.06em}
.callout p{margin:4px 0 0}
.good{border-left-color:var(--good)}.good strong{color:var(--good)}
.bad{border-left-color:var(--bad)}.bad strong{color:var(--bad)}
.open,.warn{border-left-color:var(--open)}.open strong,.warn strong{color:var(--open)}
.card.good .value{color:var(--good)}.card.bad .value{color:var(--bad)}
.card.warn .value{color:var(--open)}
figure{margin:12px 0;padding:14px 16px}figure svg{width:100%;height:auto;display:block}
figure svg:not(.wide){max-width:560px}
figcaption{margin-top:6px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr));gap:0 20px}
.phone{display:none}.muted{color:var(--soft)}.tone-good{color:var(--good)}.tone-bad{color:var(--bad)}
.tone-warn{color:var(--open)}
pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;
overflow-wrap:anywhere;margin:6px 0;padding:8px 12px;background:var(--panel);
border:1px solid var(--line);border-radius:6px;max-height:26em;overflow:auto}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:10px 0;font-size:14px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.steps code{overflow-wrap:anywhere}details{margin:10px 0}
.scroll{overflow-x:auto;margin:10px 0}
table{border-collapse:collapse;font-size:13.5px;min-width:50%}
th,td{padding:5px 12px 5px 0;text-align:left;border-bottom:1px solid var(--grid);
vertical-align:top;overflow-wrap:break-word}
th{color:var(--soft);font-weight:600;border-bottom-color:var(--line)}
td:not(.num){max-width:340px;overflow-wrap:anywhere;min-width:124px}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
summary{cursor:pointer;font-weight:550;margin:10px 0 4px}
footer{border-top:1px solid var(--line);margin-top:44px;padding-top:12px}
code{font:12.5px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
svg text{font:11.5px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--ink)}
svg .soft{fill:var(--soft)}svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--line)}
svg .line{stroke:var(--main);fill:none;stroke-width:2.2}svg .band{fill:var(--band)}
svg .dot,svg .bar{fill:var(--main)}svg .whisker{stroke:var(--ink);stroke-width:1.4}
svg .faint{fill:var(--other)}svg .zero{stroke:var(--soft);stroke-dasharray:4 3}
svg .margin{fill:var(--open);opacity:.15}
.c0{--c:#7d8798}.c1{--c:#3b74cf}.c2{--c:#c9721f}.c3{--c:#2f9283}.c4{--c:#8b5cc0}.c5{--c:#b0506f}
svg .stroke{stroke:var(--c);fill:none;stroke-width:2}svg .fill{fill:var(--c)}
svg .veil{fill:var(--c);opacity:.13}svg .hollow{fill:var(--panel);stroke:var(--c);stroke-width:1.8}
svg .gain{stroke:var(--good);stroke-width:2.4}svg .loss{stroke:var(--bad);stroke-width:2.4}
svg .same{stroke:var(--other);stroke-width:1.6}svg .won{fill:var(--good)}svg .lost{fill:var(--bad)}
svg .limit{stroke:var(--bad);stroke-dasharray:5 3;stroke-width:1.3}svg .strong{font-weight:650}
ul{margin:8px 0;padding-left:20px;max-width:78ch}li{margin:3px 0}
.legend{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px;margin:0 0 6px}
.legend i{display:inline-block;width:14px;height:4px;border-radius:2px;background:var(--c);
margin-right:6px;vertical-align:middle}
@media (max-width:720px){main{padding:20px 14px 40px}figure{padding:10px}
.paired .desk{display:none}.paired .phone{display:block}figure:not(.paired){overflow-x:auto}
figure:not(.paired) svg.wide{min-width:600px}
th,td{padding:4px 8px 4px 0}td:not(.num){min-width:84px}.optional{display:none}}
@media print{body{background:#fff}pre{max-height:none}main{max-width:none;padding:0}
.card,figure,.callout,tr,.columns>div{break-inside:avoid}h2,section>p:not(.note){break-after:avoid}
.scroll{overflow:visible}table{font-size:10.5px}th,td{padding:3px 7px 3px 0}
td,td:not(.num){overflow-wrap:anywhere;min-width:92px}td.num{min-width:0}}
"""

"""The style sheet of pages that stand alone; its colours are the variables of ``drawing.svg``."""

PAGE_STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--io-ground);color:var(--io-ink);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{padding-top:22px}
h1{margin:0;font-size:25px;line-height:1.2;overflow-wrap:anywhere}
h2{margin:34px 0 0;padding-top:14px;border-top:2px solid var(--io-grid);font-size:20px;overflow-wrap:anywhere}
h3{margin:26px 0 6px;font-size:16px}
p{margin:6px 0}
.sub,.watched,figcaption,footer{color:var(--io-faint);font-size:13.5px}
footer{padding-top:18px;padding-bottom:26px}
.headline{margin:14px 0 4px;padding:11px 15px;border-left:6px solid var(--io-usual);
background:color-mix(in srgb,var(--io-usual) 9%,var(--io-ground));font-size:17px;font-weight:600;overflow-wrap:anywhere}
.headline.slow{border-color:var(--io-slow);background:color-mix(in srgb,var(--io-slow) 10%,var(--io-ground))}
ul{margin:4px 0;padding-left:20px}
li{overflow-wrap:anywhere}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;margin-top:14px}
.ops th,.ops td{padding:4px 16px 4px 0;border-bottom:1px solid var(--io-grid);text-align:right;white-space:nowrap}
.ops th:first-child{text-align:left}
.facts th,.facts td{padding:3px 16px 3px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}
.facts th{color:var(--io-faint);font-weight:500;white-space:nowrap}
pre{margin:6px 0;padding:9px 12px;white-space:pre-wrap;overflow-wrap:anywhere;
background:color-mix(in srgb,var(--io-usual) 7%,var(--io-ground))}
thead th{color:var(--io-faint);font-size:13px;font-weight:500}
tbody th{font-weight:600}
figure{margin:0;break-inside:avoid}
.picture{margin-top:30px}
.picture svg{display:block;width:100%;height:auto}
.narrow{display:none}
@media (max-width:640px){
header,main,footer{padding-left:14px;padding-right:14px}
.wide{display:none}.narrow{display:block}
.ops{font-size:12.5px}
.ops th,.ops td{padding-right:9px}
.ops thead th{font-size:11.5px;white-space:normal;vertical-align:bottom}
}
@media print{
body{font-size:12px}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
.wide{display:block}.narrow{display:none}
h2,h3{break-after:avoid}
tr{break-inside:avoid}
}
@page{margin:14mm}
"""

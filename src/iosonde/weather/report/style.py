"""The style sheet of a report; its colours are the variables of ``drawing.svg``."""

STYLE = """
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
thead th{color:var(--io-faint);font-size:13px;font-weight:500}
tbody th{font-weight:600}
.events{width:100%}
.events th{text-align:left}
.events td,.events th{padding:4px 14px 4px 0;border-bottom:1px solid var(--io-grid);vertical-align:top}
.events td:first-child,.events td:nth-child(2){white-space:nowrap}
.events td:last-child{width:100%;padding-right:0;overflow-wrap:anywhere}
.events tr.slow td:first-child{box-shadow:inset 4px 0 var(--io-slow);padding-left:11px}
.events tr.hang td:first-child{box-shadow:inset 4px 0 var(--io-failed);padding-left:11px}
.events tr.busy td:first-child{box-shadow:inset 4px 0 var(--io-faint);padding-left:11px}
.heats{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr));gap:14px 26px}
figure{margin:0;break-inside:avoid}
.heat{width:100%;table-layout:fixed}
.heat caption{padding-bottom:2px;font-weight:600;text-align:left}
.heat thead td,.heat tbody th{width:68px}
.heat tbody th{padding-right:8px;color:var(--io-faint);
font-size:12px;font-weight:500;text-align:right;white-space:nowrap}
.heat thead th{padding:0;font-size:11px;text-align:left}
.heat tbody td{height:20px;padding:0;border:1px solid var(--io-ground);
font-size:9.5px;text-align:center;overflow:hidden}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;color:var(--io-faint);font-size:12.5px}
.key i{display:inline-block;width:15px;height:12px;margin-right:5px;vertical-align:-1px}
.h0{background:var(--io-ramp-0)}.h1{background:var(--io-ramp-1)}.h2{background:var(--io-ramp-2)}
.h3{background:var(--io-ramp-3)}.h4{background:var(--io-ramp-4);color:#fff}.h5{background:var(--io-ramp-5);color:#fff}
.na{background:repeating-linear-gradient(135deg,var(--io-unknown) 0 2px,transparent 2px 6px)}
.heat td,.key i{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.picture{margin-top:30px}
.picture svg{display:block;width:100%;height:auto}
.narrow{display:none}
@media (max-width:640px){
header,main,footer{padding-left:14px;padding-right:14px}
.wide{display:none}.narrow{display:block}
.events thead{display:none}
.events tr{display:block;padding:6px 0;border-bottom:1px solid var(--io-grid)}
.events td{display:inline-block;padding:0 12px 0 0;border:0}
.events td:last-child{display:block}
.heat thead td,.heat tbody th{width:58px}
.ops{font-size:12.5px}
.ops th,.ops td{padding-right:9px}
.ops thead th{font-size:11.5px;white-space:normal;vertical-align:bottom}
.heat tbody th{font-size:10.5px;padding-right:5px}
.heat span{display:none}
}
@media print{
body{font-size:12px}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
.wide{display:block}.narrow{display:none}
h2,h3{break-after:avoid}
tr{break-inside:avoid}
.heats{grid-template-columns:1fr 1fr}
.heat tbody td{font-size:6.5px}
}
@page{margin:14mm}
"""

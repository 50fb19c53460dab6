"""Style sheet of weather reports, in addition to that of pages: events and heat maps."""

from iosonde.drawing.page_style import PAGE_STYLE

STYLE = (
    PAGE_STYLE
    + """
.events{width:100%}
.events th{text-align:left}
.events td,.events th{padding:4px 14px 4px 0;border-bottom:1px solid var(--io-grid);vertical-align:top}
.events td:first-child,.events td:nth-child(2){white-space:nowrap}
.events td:last-child{width:100%;padding-right:0;overflow-wrap:anywhere}
.events tr.slow td:first-child{box-shadow:inset 4px 0 var(--io-slow);padding-left:11px}
.events tr.hang td:first-child{box-shadow:inset 4px 0 var(--io-failed);padding-left:11px}
.events tr.busy td:first-child{box-shadow:inset 4px 0 var(--io-faint);padding-left:11px}
.heats{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr));gap:14px 26px}
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
@media (max-width:640px){
.events thead{display:none}
.events tr{display:block;padding:6px 0;border-bottom:1px solid var(--io-grid)}
.events td{display:inline-block;padding:0 12px 0 0;border:0}
.events td:last-child{display:block}
.heat thead td,.heat tbody th{width:58px}
.heat tbody th{font-size:10.5px;padding-right:5px}
.heat span{display:none}
}
@media print{
.heats{grid-template-columns:1fr 1fr}
.heat tbody td{font-size:6.5px}
}
"""
)

"""Output of iostat, /proc/diskstats and node_exporter on a Linux machine (sysstat 12.6.1, node_exporter 1.5.0)."""

# ruff: noqa: E501 - lines as the programs print them

HOST = "n001"
BEGIN_S = 1795873175
"""The first time of the texts: 2026-11-28 13:39:35 UTC."""

IOSTAT_C = """Linux 6.18.44 (n001) 	11/28/26 	_x86_64_	(2 CPU)

11/28/26 13:39:35
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          33.66   41.22   11.55    1.36    0.92   11.29

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4            0.36    156.17     0.00   1.13    0.44   431.19    5.08    294.72     2.39  31.93    0.63    57.98    0.00      0.00     0.00   0.00    0.00     0.00    1.05    0.48    0.00   0.11
vda            101.43   2497.68     5.25   4.92    2.60    24.63   99.19   7864.21    30.07  23.27    1.46    79.28   42.40   3841.99     0.01   0.01    0.30    90.62   15.30    0.83    0.43   4.25


11/28/26 13:39:37
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          46.50   33.00   17.00    0.00    3.25    0.25

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4            0.00      0.00     0.00   0.00    0.00     0.00    7.00   2734.00     8.50  54.84    2.07   390.57    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.01   0.20
vda            200.00  12800.00     0.00   0.00    0.17    64.00  197.00  12608.00     0.00   0.00    0.26    64.00    7.00  12804.00     0.00   0.00    2.14  1829.14    0.00    0.00    0.10   6.40


11/28/26 13:39:39
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          41.29   35.07   20.40    0.00    2.99    0.25

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4           12.00     56.00     0.00   0.00    0.12     4.67    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.00   0.20
vda            221.00  13150.00     0.00   0.00    0.14    59.50  247.00  15808.00     0.00   0.00    0.21    64.00    7.00  12804.00     0.00   0.00    1.21  1829.14    0.00    0.00    0.09   7.00
"""

IOSTAT_ISO = """Linux 6.18.44 (n001) 	2026-11-28 	_x86_64_	(2 CPU)

2026-11-28T13:39:35+0000
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4            0.36    156.17     0.00   1.13    0.44   431.19    5.08    294.72     2.39  31.93    0.63    57.98    0.00      0.00     0.00   0.00    0.00     0.00    1.05    0.48    0.00   0.11
vda            101.43   2497.68     5.25   4.92    2.60    24.63   99.19   7864.21    30.07  23.27    1.46    79.28   42.40   3841.99     0.01   0.01    0.30    90.62   15.30    0.83    0.43   4.25


2026-11-28T13:39:37+0000
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4            0.00      0.00     0.00   0.00    0.00     0.00    7.00   2734.00     8.50  54.84    2.07   390.57    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.01   0.20
vda            200.00  12800.00     0.00   0.00    0.17    64.00  198.50  12704.00     0.00   0.00    0.26    64.00    7.00  12804.00     0.00   0.00    2.14  1829.14    0.00    0.00    0.10   6.40


2026-11-28T13:39:39+0000
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
loop4           12.00     56.00     0.00   0.00    0.12     4.67    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.00   0.20
vda            221.00  13150.00     0.00   0.00    0.14    59.50  248.50  15904.00     0.00   0.00    0.21    64.00    7.00  12804.00     0.00   0.00    1.21  1829.14    0.00    0.00    0.09   7.00
"""

IOSTAT_JSON = """{"sysstat": {
	"hosts": [
		{
			"nodename": "n001",
			"sysname": "Linux",
			"release": "6.18.44",
			"machine": "x86_64",
			"number-of-cpus": 2,
			"date": "2026-11-28",
			"statistics": [
				{
					"timestamp": "2026-11-28T13:39:35+0000",
					"avg-cpu":  {"user": 33.66, "nice": 41.22, "system": 11.55, "iowait": 1.36, "steal": 0.92, "idle": 11.29},
					"disk": [
						{"disk_device": "loop4", "r/s": 0.36, "w/s": 5.08, "d/s": 0.00, "f/s": 1.05, "rkB/s": 156.17, "wkB/s": 294.72, "dkB/s": 0.00, "rrqm/s": 0.00, "wrqm/s": 2.39, "drqm/s": 0.00, "rrqm": 1.13, "wrqm": 31.93, "drqm": 0.00, "r_await": 0.44, "w_await": 0.63, "d_await": 0.00, "f_await": 0.48, "rareq-sz": 431.19, "wareq-sz": 57.98, "dareq-sz": 0.00, "aqu-sz": 0.00, "util": 0.11},
						{"disk_device": "vda", "r/s": 101.43, "w/s": 99.19, "d/s": 42.40, "f/s": 15.30, "rkB/s": 2497.68, "wkB/s": 7864.21, "dkB/s": 3841.99, "rrqm/s": 5.25, "wrqm/s": 30.07, "drqm/s": 0.01, "rrqm": 4.92, "wrqm": 23.27, "drqm": 0.01, "r_await": 2.60, "w_await": 1.46, "d_await": 0.30, "f_await": 0.83, "rareq-sz": 24.63, "wareq-sz": 79.28, "dareq-sz": 90.62, "aqu-sz": 0.43, "util": 4.25}
					]
				},
				{
					"timestamp": "2026-11-28T13:39:37+0000",
					"avg-cpu":  {"user": 46.38, "nice": 32.92, "system": 17.21, "iowait": 0.00, "steal": 3.24, "idle": 0.25},
					"disk": [
						{"disk_device": "loop4", "r/s": 0.00, "w/s": 7.00, "d/s": 0.00, "f/s": 0.00, "rkB/s": 0.00, "wkB/s": 2734.00, "dkB/s": 0.00, "rrqm/s": 0.00, "wrqm/s": 8.50, "drqm/s": 0.00, "rrqm": 0.00, "wrqm": 54.84, "drqm": 0.00, "r_await": 0.00, "w_await": 2.07, "d_await": 0.00, "f_await": 0.00, "rareq-sz": 0.00, "wareq-sz": 390.57, "dareq-sz": 0.00, "aqu-sz": 0.01, "util": 0.20},
						{"disk_device": "vda", "r/s": 200.00, "w/s": 199.50, "d/s": 7.00, "f/s": 0.00, "rkB/s": 12800.00, "wkB/s": 12768.00, "dkB/s": 12804.00, "rrqm/s": 0.00, "wrqm/s": 0.00, "drqm/s": 0.00, "rrqm": 0.00, "wrqm": 0.00, "drqm": 0.00, "r_await": 0.17, "w_await": 0.26, "d_await": 2.14, "f_await": 0.00, "rareq-sz": 64.00, "wareq-sz": 64.00, "dareq-sz": 1829.14, "aqu-sz": 0.10, "util": 6.40}
					]
				},
				{
					"timestamp": "2026-11-28T13:39:39+0000",
					"avg-cpu":  {"user": 41.29, "nice": 35.07, "system": 20.40, "iowait": 0.00, "steal": 2.99, "idle": 0.25},
					"disk": [
						{"disk_device": "loop4", "r/s": 12.00, "w/s": 0.00, "d/s": 0.00, "f/s": 0.00, "rkB/s": 56.00, "wkB/s": 0.00, "dkB/s": 0.00, "rrqm/s": 0.00, "wrqm/s": 0.00, "drqm/s": 0.00, "rrqm": 0.00, "wrqm": 0.00, "drqm": 0.00, "r_await": 0.12, "w_await": 0.00, "d_await": 0.00, "f_await": 0.00, "rareq-sz": 4.67, "wareq-sz": 0.00, "dareq-sz": 0.00, "aqu-sz": 0.00, "util": 0.20},
						{"disk_device": "vda", "r/s": 221.00, "w/s": 247.50, "d/s": 7.00, "f/s": 0.00, "rkB/s": 13150.00, "wkB/s": 15840.00, "dkB/s": 12804.00, "rrqm/s": 0.00, "wrqm/s": 0.00, "drqm/s": 0.00, "rrqm": 0.00, "wrqm": 0.00, "drqm": 0.00, "r_await": 0.14, "w_await": 0.21, "d_await": 1.21, "f_await": 0.00, "rareq-sz": 59.50, "wareq-sz": 64.00, "dareq-sz": 1829.14, "aqu-sz": 0.09, "util": 7.00}
					]
				}
			]
		}
	]
}}
"""

DISKSTATS = """1795873175
   7       4 loop4 9441 108 8141754 4184 132514 62172 15365544 83745 0 28176 100999 0 0 0 0 27278 13069
 254       0 vda 2643958 136821 130217786 6880572 2585753 783967 410005040 3778416 0 1108388 11325315 1105148 138 200303768 333580 398780 332745
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
1795873177
   7       4 loop4 9441 108 8141754 4184 132528 62189 15376480 83774 0 28180 101028 0 0 0 0 27278 13069
 254       0 vda 2644358 136821 130268986 6880638 2586165 783967 410057776 3778523 0 1108520 11325518 1105162 138 200354984 333610 398780 332745
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
1795873179
   7       4 loop4 9467 108 8142250 4187 132528 62189 15376480 83774 0 28184 101031 0 0 0 0 27278 13069
 254       0 vda 2644800 136821 130321586 6880699 2586693 783967 410125360 3778632 0 1108660 11325705 1105176 138 200406200 333627 398780 332745
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
1795873181
   7       4 loop4 9470 108 8142274 4188 132538 62216 15388544 83865 0 28200 101122 0 0 0 0 27278 13069
 254       0 vda 2645451 136821 130398930 6880847 2587141 783967 410182704 3778730 0 1108836 11325975 1105190 138 200457416 333650 398780 332745
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""

PROM_1 = """# TYPE node_disk_discards_completed_total counter
node_disk_discards_completed_total{device="vda"} 1.102428e+06
node_disk_discards_completed_total{device="zram0"} 0
# TYPE node_disk_info gauge
node_disk_info{device="vda",major="254",minor="0",model="",path="",revision="",serial="",wwn=""} 1
node_disk_info{device="zram0",major="253",minor="0",model="",path="",revision="",serial="",wwn=""} 1
# TYPE node_disk_io_now gauge
node_disk_io_now{device="vda"} 0
node_disk_io_now{device="zram0"} 0
# TYPE node_disk_io_time_seconds_total counter
node_disk_io_time_seconds_total{device="vda"} 1107.3120000000001
node_disk_io_time_seconds_total{device="zram0"} 0
# TYPE node_disk_io_time_weighted_seconds_total counter
node_disk_io_time_weighted_seconds_total{device="vda"} 11321.763
node_disk_io_time_weighted_seconds_total{device="zram0"} 0
# TYPE node_disk_read_bytes_total counter
node_disk_read_bytes_total{device="vda"} 6.6610213888e+10
node_disk_read_bytes_total{device="zram0"} 0
# TYPE node_disk_read_time_seconds_total counter
node_disk_read_time_seconds_total{device="vda"} 6880.353
node_disk_read_time_seconds_total{device="zram0"} 0
# TYPE node_disk_reads_completed_total counter
node_disk_reads_completed_total{device="vda"} 2.642661e+06
node_disk_reads_completed_total{device="zram0"} 0
# TYPE node_disk_reads_merged_total counter
node_disk_reads_merged_total{device="vda"} 136816
node_disk_reads_merged_total{device="zram0"} 0
# TYPE node_disk_write_time_seconds_total counter
node_disk_write_time_seconds_total{device="vda"} 3776.239
node_disk_write_time_seconds_total{device="zram0"} 0
# TYPE node_disk_writes_completed_total counter
node_disk_writes_completed_total{device="vda"} 2.581002e+06
node_disk_writes_completed_total{device="zram0"} 0
# TYPE node_disk_writes_merged_total counter
node_disk_writes_merged_total{device="vda"} 783625
node_disk_writes_merged_total{device="zram0"} 0
# TYPE node_disk_written_bytes_total counter
node_disk_written_bytes_total{device="vda"} 2.09748701184e+11
node_disk_written_bytes_total{device="zram0"} 0
"""

PROM_2 = """# TYPE node_disk_discards_completed_total counter
node_disk_discards_completed_total{device="vda"} 1.103661e+06
node_disk_discards_completed_total{device="zram0"} 0
# TYPE node_disk_info gauge
node_disk_info{device="vda",major="254",minor="0",model="",path="",revision="",serial="",wwn=""} 1
node_disk_info{device="zram0",major="253",minor="0",model="",path="",revision="",serial="",wwn=""} 1
# TYPE node_disk_io_now gauge
node_disk_io_now{device="vda"} 0
node_disk_io_now{device="zram0"} 0
# TYPE node_disk_io_time_seconds_total counter
node_disk_io_time_seconds_total{device="vda"} 1107.796
node_disk_io_time_seconds_total{device="zram0"} 0
# TYPE node_disk_io_time_weighted_seconds_total counter
node_disk_io_time_weighted_seconds_total{device="vda"} 11323.573
node_disk_io_time_weighted_seconds_total{device="zram0"} 0
# TYPE node_disk_read_bytes_total counter
node_disk_read_bytes_total{device="vda"} 6.663004672e+10
node_disk_read_bytes_total{device="zram0"} 0
# TYPE node_disk_read_time_seconds_total counter
node_disk_read_time_seconds_total{device="vda"} 6880.441
node_disk_read_time_seconds_total{device="zram0"} 0
# TYPE node_disk_reads_completed_total counter
node_disk_reads_completed_total{device="vda"} 2.642984e+06
node_disk_reads_completed_total{device="zram0"} 0
# TYPE node_disk_reads_merged_total counter
node_disk_reads_merged_total{device="vda"} 136821
node_disk_reads_merged_total{device="zram0"} 0
# TYPE node_disk_write_time_seconds_total counter
node_disk_write_time_seconds_total{device="vda"} 3777.391
node_disk_write_time_seconds_total{device="zram0"} 0
# TYPE node_disk_writes_completed_total counter
node_disk_writes_completed_total{device="vda"} 2.583043e+06
node_disk_writes_completed_total{device="zram0"} 0
# TYPE node_disk_writes_merged_total counter
node_disk_writes_merged_total{device="vda"} 783706
node_disk_writes_merged_total{device="zram0"} 0
# TYPE node_disk_written_bytes_total counter
node_disk_written_bytes_total{device="vda"} 2.09860370432e+11
node_disk_written_bytes_total{device="zram0"} 0
"""

IOSTAT_11 = """Linux 3.10.0-1160.el7.x86_64 (n001)  28.11.2026  _x86_64_  (8 CPU)

28.11.2026 13:39:35
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0,50    0,00    0,25    0,10    0,00   99,15

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0,10     1,20    3,00    2,00    40,00    64,00    41,60     0,02    4,00    5,00    2,50   1,00   0,50

28.11.2026 13:39:45
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1,50    0,00    0,75    2,10    0,00   95,65

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0,00     4,00   20,00   10,00   320,00   160,00    32,00     0,21    7,00    8,00    5,00   2,00   6,00
"""
"""The layout of sysstat 11 and 10 in a German locale, made by hand."""

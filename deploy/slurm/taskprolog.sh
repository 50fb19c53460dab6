#!/bin/bash
# Slurm task prolog: the user's own output says when the job began on storage that was slow or hung.
#
# Install: install -m 755 taskprolog.sh /etc/slurm/, and in slurm.conf:   TaskProlog=/etc/slurm/taskprolog.sh
#          In a task prolog that exists, one line is enough:
#              [[ "${SLURM_PROCID:-0}" == 0 && -x /etc/update-motd.d/90-iosonde ]] && /etc/update-motd.d/90-iosonde | sed 's/^/print /'
# Costs:   one start of `iosonde now` a job step (its first task only), about 0.1 s of CPU, at most 2 s of waiting.

[[ "${SLURM_PROCID:-0}" == 0 ]] || exit 0
motd=${IOSONDE_MOTD_SCRIPT:-/etc/update-motd.d/90-iosonde}
[[ -x "$motd" ]] || exit 0  # a node without it says nothing in the user's output
"$motd" | sed 's/^/print /'
exit 0

#!/bin/sh
# Before removal of .deb ("remove") or .rpm ("0": no version stays). An upgrade ("upgrade", "1") stops nothing.
set -e

case "${1:-}" in
    remove | 0)
        if [ -d /run/systemd/system ]; then
            systemctl disable --now iosonde-agent.service
        fi
        ;;
esac

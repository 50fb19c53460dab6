#!/bin/sh
# Before removal of .deb ("remove") or .rpm ("0": no version stays). An upgrade ("upgrade", "1") stops nothing.
# A service that does not stop is said and does not keep the package from going.

case "${1:-}" in
    remove | 0)
        if [ -d /run/systemd/system ]; then
            systemctl disable --now iosonde-agent.service ||
                echo "iosonde-agent: the service did not stop; try 'systemctl kill iosonde-agent'" >&2
        fi
        ;;
esac
exit 0

#!/bin/sh
# Makes the account of the service. The service is not started: /etc/homenode says what it collects.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers homenode.conf
elif ! getent passwd homenode >/dev/null 2>&1 && command -v useradd >/dev/null 2>&1; then
	useradd --system --user-group --home-dir /var/lib/homenode --no-create-home --shell /usr/sbin/nologin homenode
fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi

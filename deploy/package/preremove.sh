#!/bin/sh
# Stops the service before its program goes; an upgrade (deb: upgrade, rpm: 1) lets it run.
set -e
case ${1:-} in remove | 0) if [ -d /run/systemd/system ]; then systemctl disable --now homenode.service || :; fi ;; esac

#!/bin/sh
# Says of each action in .github/workflows whether its pinned commit is that of the version in the comment behind it.
grep -rhoE 'uses: \S+ # \S+' .github/workflows | sort -u | {
  failed=0
  while read -r _ action _ version; do
    if git ls-remote "https://github.com/${action%@*}" "refs/tags/$version" "refs/tags/$version^{}" | grep -q "^${action#*@}"; then
      echo "right $action"
    else
      echo "WRONG $action $version"
      failed=1
    fi
  done
  exit $failed
}

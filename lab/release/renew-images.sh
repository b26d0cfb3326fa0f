#!/bin/sh -e
# Writes the current digest of each base image's tag into the Dockerfile: that of the multi-platform index.
for name in BUILD_IMAGE RUNTIME_IMAGE; do
  tag=$(sed -n "s/^ARG $name=\(.*\)@sha256:.*/\1/p" Dockerfile)
  digest=$(docker buildx imagetools inspect "$tag" --format '{{json .Manifest.Digest}}' | tr -d '"')
  case "$digest" in sha256:*) ;; *) echo "no digest for $tag" >&2; exit 1 ;; esac
  sed -i "s|^ARG $name=.*|ARG $name=$tag@$digest|" Dockerfile
done
git diff Dockerfile

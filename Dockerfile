# Builds the one file and copies it, with the source map for its stack traces, into an image that contains only Node: no
# shell, no package manager.
# Both base images are pinned by the digest of their multi-platform index; RELEASING.md says how to renew them.
ARG BUILD_IMAGE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e

# What it builds is the same for every processor, so it runs on the builder's own, without emulation.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Without the script that builds after an installation: there is no source yet.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && mkdir -p /out/data && cp -r dist/server.js dist/server.js.map configs /out/

FROM ${RUNTIME_IMAGE}
WORKDIR /app
COPY --from=build --chown=65532:65532 /out /app
# The container's own: the service says so where nothing names this path.
ENV RUNTIME_CONFIG_PATH=/tmp/runtime_config.json
USER 65532:65532
EXPOSE 8080
# The database and the files beside it. Without a volume the results are lost with the container.
VOLUME /app/data
# Mount your configuration at /app/user-configs/config.json; it is merged over configs/default_config.json.
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 CMD ["/nodejs/bin/node", "--disable-sigusr1", "/app/server.js", "healthcheck"]
# The image's entry point is Node itself. The flag keeps its inspector closed even before the program's first line.
CMD ["--disable-sigusr1", "/app/server.js", "serve", "--merge-config"]

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
# The flag keeps Node's inspector closed even before the program's first line.
RUN printf '#!/nodejs/bin/node --disable-sigusr1\nrequire("/app/server.js");\n' > /command && chmod 755 /command

FROM ${RUNTIME_IMAGE}
WORKDIR /app
COPY --from=build --chown=65532:65532 /out /app
COPY --from=build /command /usr/local/bin/trading-simulation-service
# The container's own: the service says so where nothing names this path.
ENV RUNTIME_CONFIG_PATH=/tmp/runtime_config.json
USER 65532:65532
EXPOSE 8080
# The database and the files beside it. Without a volume the results are lost with the container.
VOLUME /app/data
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 CMD ["/usr/local/bin/trading-simulation-service", "healthcheck"]
# Other commands: docker run --rm IMAGE --help, or docker exec CONTAINER trading-simulation-service --help
ENTRYPOINT ["/usr/local/bin/trading-simulation-service"]
# Mount your configuration at /app/user-configs/config.json; it is merged over configs/default_config.json.
CMD ["serve", "--merge-config"]

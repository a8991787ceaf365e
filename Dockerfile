FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
# The image has Node.js itself: without scripts, the development dependency `node` downloads none.
RUN npm ci --ignore-scripts && node scripts/pack.ts

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="storegate" \
      org.opencontainers.image.description="API gateway and rate-limiting proxy" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    STOREGATE_DATA=/data \
    STOREGATE_CONFIG=/config/gateway.yaml \
    STOREGATE_PLANS=/config/plans.yaml \
    STOREGATE_ADMIN_HOST=127.0.0.1
WORKDIR /app
COPY --from=build /build/dist/package ./
COPY --chmod=755 deploy/image/health.sh ./
RUN ln -s /app/dist/main.js /usr/local/bin/storegate && mkdir /data /config \
  && cp plans.yaml config/gateway.yaml /config/ && chown -R 1000:1000 /data /config
# By number: Kubernetes cannot see from a name that the user is not root (`runAsNonRoot`).
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=2s --start-period=10s CMD ["/app/health.sh"]
ENTRYPOINT ["storegate"]
CMD ["serve", "--no-demo-keys"]

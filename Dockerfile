# An image that holds the static program and nothing else.
#
#   docker build -t packetboat .
#   docker run -p 8080:8080 -v packetboat:/data -e PACKETBOAT_BASE_URL=https://mail.example.com packetboat
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build TAGS= && scripts/notices >/NOTICES.txt && mkdir -m 0700 /data && mkdir -m 1777 /scratch-tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/bin/packetboat /packetboat
COPY --from=build /src/LICENSE /NOTICES.txt /
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build --chown=65532:65532 /scratch-tmp /tmp
USER 65532:65532
ENV PACKETBOAT_DATA_DIR=/data \
    PACKETBOAT_LISTEN=:8080
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/packetboat", "health"]
ENTRYPOINT ["/packetboat"]
CMD ["serve"]

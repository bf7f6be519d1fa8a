# A static binary and nothing else, run by nobody in particular. It understands
# the ports and the environment of grokzen/redis-cluster: MASTERS,
# SLAVES_PER_MASTER, INITIAL_PORT, IP, BIND_ADDRESS, STANDALONE, PASSWORD.
FROM golang:1.26.11 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.stamped=${VERSION}" -o /fakecluster ./cmd/fakecluster \
	&& mkdir /data

FROM scratch
COPY --from=build /fakecluster /fakecluster
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV FAKECLUSTER_GROKZEN=true
EXPOSE 7000-7007
VOLUME /data
HEALTHCHECK --interval=5s --timeout=3s --start-period=1s CMD ["/fakecluster", "healthcheck"]
ENTRYPOINT ["/fakecluster"]

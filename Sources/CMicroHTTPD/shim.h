#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <microhttpd.h>

// Paths and queries are decoded by their reader, who knows that "+" is no space here.
static inline size_t jejak_keep_escapes(void *context, struct MHD_Connection *connection,
                                        char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

// Empties the query of a target that the library shows before it parses the parameters: each would
// take some of the connection's memory, and where that is used up there would be no answer. The
// text lies in the connection's own buffer, and the library writes into it in the same way.
static inline void jejak_cut_query(const char *target) {
  char *query = strchr((char *)target, '?');
  if (query) query[1] = 0;
}

// `MHD_start_daemon` is variadic, which Swift can't call.
static inline struct MHD_Daemon *jejak_start_daemon(
    MHD_socket listener, MHD_AccessHandlerCallback handle,
    void *(*begin)(void *, const char *, struct MHD_Connection *),
    MHD_RequestCompletedCallback complete, void *context, size_t connection_memory,
    unsigned int connection_limit, unsigned int idle_seconds) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, context,
      MHD_OPTION_LISTEN_SOCKET, listener,
      MHD_OPTION_URI_LOG_CALLBACK, begin, context,
      MHD_OPTION_NOTIFY_COMPLETED, complete, context,
      MHD_OPTION_UNESCAPE_CALLBACK, jejak_keep_escapes, context,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      // A request without Host is refused by the server, as a problem document.
      MHD_OPTION_STRICT_FOR_CLIENT, 0,
      MHD_OPTION_END);
}

// `MHD_get_daemon_info` and `MHD_get_connection_info` are variadic too.
static inline int jejak_daemon_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

static inline unsigned int jejak_daemon_connections(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? info->num_connections : 0;
}

static inline const struct sockaddr *jejak_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

// libmicrohttpd 0.9.75 ends the answer to a HEAD with the last chunk of a chunked body, where it has
// none to send: a close in place of chunks avoids that.
static inline void jejak_end_with_connection(struct MHD_Response *response) {
  MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

static inline MHD_socket jejak_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// A connection that is suspended most of its time has no timeout of libmicrohttpd; the kernel ends
// it where the other side has acknowledged nothing of what was sent for so long.
static inline void jejak_end_when_silent(struct MHD_Connection *connection,
                                         unsigned int milliseconds) {
  setsockopt(jejak_socket(connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds,
             sizeof milliseconds);
}

// The other side sees a reset in place of an end; what was not sent yet is thrown away. A linger of
// zero would come too late: libmicrohttpd shuts the socket down before it closes it.
static inline void jejak_reset(struct MHD_Connection *connection) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  connect(jejak_socket(connection), &none, sizeof none);
}

// Where the number of a network address lies in its structure.
static inline size_t jejak_address_offset(const struct sockaddr *address) {
  return address->sa_family == AF_INET6 ? offsetof(struct sockaddr_in6, sin6_addr)
                                        : offsetof(struct sockaddr_in, sin_addr);
}

// What decides where a request goes and where it ends: how many lines it has of some headers,
// and how many that no sender may write.
struct jejak_framing {
  int hosts;
  int lengths;
  int codings;
  int credentials;
  int malformed;
  // Where the value of the line before ends.
  const char *end;
};

// RFC 9110 section 5.6.2.
static inline int jejak_is_token(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c <= 0x20 || c >= 0x7f || memchr("\"(),/:;<=>?@[\\]{}", c, 17)) return 0;
  }
  return size > 0;
}

// RFC 9110 section 5.5: no CR, LF, NUL or other control character but the tab.
static inline int jejak_is_field_value(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if ((c < 0x20 && c != 0x09) || c == 0x7f) return 0;
  }
  return 1;
}

// Whether there is nothing but blanks, and so many NULs at most, from one part of a header to the
// next. Parts are texts that end with NULs in place of their separator: a NUL of the sender's own
// would cut what follows it off, unseen.
static inline int jejak_is_separator(const char *from, const char *to, int nuls) {
  for (; from < to; from++) {
    if (*from == 0) nuls--;
    else if (*from != ' ' && *from != '\t') return 0;
  }
  return nuls >= 0;
}

// The header lines lie one behind the other in the connection's buffer, the first in front, and
// each closer to the end than this.
enum { jejak_header_limit = 1 << 16 };

static inline enum MHD_Result jejak_count_framing(void *context, enum MHD_ValueKind kind,
                                                  const char *name, size_t name_size,
                                                  const char *value, size_t value_size) {
  (void)kind;
  struct jejak_framing *framing = (struct jejak_framing *)context;
  if (framing->end && name > framing->end && name - framing->end < jejak_header_limit &&
      !jejak_is_separator(framing->end, name, 2))
    framing->malformed++;
  framing->end = value + value_size;
  if (!jejak_is_token(name, name_size) || !jejak_is_field_value(value, value_size))
    framing->malformed++;
  else if (name_size == 4 && strcasecmp(name, "Host") == 0) framing->hosts++;
  else if (name_size == 14 && strcasecmp(name, "Content-Length") == 0) framing->lengths++;
  else if (name_size == 17 && strcasecmp(name, "Transfer-Encoding") == 0) framing->codings++;
  else if (name_size == 13 && strcasecmp(name, "Authorization") == 0) framing->credentials++;
  return MHD_YES;
}

static inline struct jejak_framing jejak_framing_of(struct MHD_Connection *connection) {
  struct jejak_framing framing = {0, 0, 0, 0, 0, NULL};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &jejak_count_framing, &framing);
  // Behind the last line comes an empty one.
  if (framing.end && !jejak_is_separator(framing.end, framing.end + 2, 2)) framing.malformed++;
  return framing;
}

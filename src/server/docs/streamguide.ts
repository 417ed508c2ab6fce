import { API_PREFIX } from '../../catalog/catalog.ts';
import { DOMAIN_TYPES } from '../../catalog/stream/domains.ts';
import { CORRELATION_HEADER, STREAM_PATH } from '../../catalog/stream/messages.ts';
import { EXAMPLE_MESSAGE } from '../openapi/stream.ts';
import { LISTENER_TIMES } from '../stream/listener.ts';
import { DEFAULT_RETENTION_DAYS } from '../stream/stream.ts';
import { jsonCode } from './code.ts';
import type { Guide } from './guides.ts';
import { html } from './markup.ts';
import { table } from './tables.ts';

/** The chapter on the stream and the async endpoints (D40–D42). */
export function streamGuide(): Guide {
  const types = DOMAIN_TYPES.map((type) => html`<code>${type}</code> `);
  return {
    id: 'stream',
    title: 'Stream of changes',
    text: html`<p><code>GET ${API_PREFIX}${STREAM_PATH}</code> tells every change of the organization, in the order in which changes were committed. The answer does not end.</p>
<pre><code>curl -N "$MOLAR_URL${API_PREFIX}${STREAM_PATH}?routingKey=$MOLAR_ORGANIZATION.*.PatientV1.*" \\
  -H "Authorization: Bearer $MOLAR_TOKEN" \\
  -H "Organization-ID: $MOLAR_ORGANIZATION"</code></pre>
<p>It comes as Server-Sent Events: <code>id</code> is the position, <code>event</code> the operation, <code>data</code> the message. With <code>Accept: application/x-ndjson</code> it comes as one message a line.</p>
<pre><code>${jsonCode(EXAMPLE_MESSAGE)}</code></pre>
<p><code>routingKey</code> may be repeated; <code>*</code> stands for one segment, <code>#</code> for any number. The second segment is the id of the record’s location, or <code>*</code> where it has none. Kinds of records: ${types}</p>
${table(
  ['Operation', 'Payload'],
  [
    [html`<code>CREATE</code>`, 'The whole record; of a document without its download links.'],
    [
      html`<code>UPDATE</code>`,
      'The id, the type where the record has one, and what changed. A change of nothing is not told.',
    ],
    [html`<code>DELETE</code>`, 'The id; of a transaction its ledgerType too.'],
    [html`<code>READ</code>`, 'A record that an async endpoint was asked for.'],
    [html`<code>READ_COMPLETE</code>`, 'The total of a delivery: its last message.'],
    [html`<code>resync</code>`, 'Messages were missed and are no longer kept: read the records again.'],
  ],
)}
<ul>
<li>Transactions tell their <code>ledgerType</code>. A correction is told by the CREATE of the new row.</li>
<li>After a break, send the <code>id</code> of the last message as <code>Last-Event-ID</code> or <code>lastEventId</code>: nothing is left out, though a message may come twice. 0 begins with the oldest that is kept; without it the stream begins now.</li>
<li>Messages are kept for ${DEFAULT_RETENTION_DAYS} days, unless the server was set otherwise. Whoever comes back later is told by a <code>resync</code> first.</li>
<li>When nothing happens, a comment (in NDJSON an empty line) comes every ${LISTENER_TIMES.heartbeatMs / 1000} seconds: a connection that is silent for much longer is dead. Listening needs the scope <code>model:read</code>; it ends when the token does.</li>
<li>An async endpoint answers its first ten records at once. All of them come on the stream as READ messages; their <code>correlationId</code> is the <code>${CORRELATION_HEADER}</code> of the answer. Begin to listen before you ask.</li>
</ul>`,
  };
}

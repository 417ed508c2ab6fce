import { API_PREFIX } from '../../catalog/catalog.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { DOMAIN_TYPES } from '../../catalog/stream/domains.ts';
import { CORRELATION_HEADER, STREAM_PATH } from '../../catalog/stream/messages.ts';
import { DEFAULT_ATTEMPTS } from '../http/attempts.ts';
import { DEFAULT_RATE } from '../http/ratelimit.ts';
import { SCOPE_MEANINGS } from '../openapi/document.ts';
import { exampleFailure } from '../openapi/examples.ts';
import { TOKEN_PATH } from '../openapi/service.ts';
import { EXAMPLE_MESSAGE } from '../openapi/stream.ts';
import { LISTENER_TIMES } from '../stream/listener.ts';
import { DEFAULT_RETENTION_DAYS } from '../stream/retention.ts';
import { type Html, html, jsonCode } from './markup.ts';
import { codes, failuresTable, operatorsTable, table } from './tables.ts';

/** A chapter of the reference that is about all operations. */
export interface Guide {
  readonly id: string;
  readonly title: string;
  readonly text: Html;
}

const shell = (text: string): Html => html`<pre><code>${text}</code></pre>`;

const LENGTH_PROBLEM = 'firstName must have 1 to 25 characters, it has 31.';
const EXAMPLE_FAILURE = exampleFailure(400, 'field.length', 'firstName', LENGTH_PROBLEM);

/** The chapters before the resources, in reading order; the last one is on the stream and async endpoints (D40–D42). */
export const GUIDES: readonly Guide[] = [
  {
    id: 'start',
    title: 'First request',
    text: html`<p>Every request carries a bearer token and names its organization. With the address, the token and the organization in the environment:</p>
${shell(`curl -G "$MOLAR_URL/api/v1/patients" \\
  -H "Authorization: Bearer $MOLAR_TOKEN" \\
  -H "Organization-ID: $MOLAR_ORGANIZATION" \\
  --data-urlencode 'filter=patientStatus==ACTIVE' \\
  --data-urlencode 'lastId=0'`)}
<p>Tokens are made by the server’s operator, or exchanged for client credentials:</p>
${shell(`curl "$MOLAR_URL${TOKEN_PATH}?grant_type=client_credentials" \\
  --data-urlencode "client_id=$MOLAR_CLIENT_ID" \\
  --data-urlencode "client_secret=$MOLAR_CLIENT_SECRET"`)}
<p>A token has scopes; each operation names the one it needs.</p>
${table(
  ['Scope', 'Allows'],
  Object.entries(SCOPE_MEANINGS).map(([scope, meaning]) => [html`<code>${scope}</code>`, meaning]),
)}
<p>Answers are envelopes: <code>data</code>, <code>warnings</code> and <code>errors</code>, and on bulk reads <code>meta.pagination</code>. A warning tells of something that was ignored or added; the request succeeded all the same. Every answer has an <code>X-Request-ID</code>; send your own to find it in both logs.</p>`,
  },
  {
    id: 'filters',
    title: 'Filters',
    text: html`<p><code>filter</code> is a list of terms joined by commas, each a key, an operator and a value. All terms must hold; a key may come several times.</p>
${shell('filter=lastName~=Sm,patientStatus==ACTIVE,preferredLocation.id->[5,6]')}
${operatorsTable()}
<ul>
<li>A value with commas, brackets or quotes is written in double quotes: <code>lastName=="Smith, Jr."</code>. Inside, <code>\\"</code> and <code>\\\\</code> stand for themselves.</li>
<li>Each operation lists its keys and their operators; any other is refused, never ignored.</li>
<li><code>key==</code> without a value is refused; ask with <code>.absent</code> where it is listed.</li>
<li>Locations: an id, a list, or <code>ALL</code> (or <code>*</code>) for all of them.</li>
<li>A date where a date-time is compared means midnight in the organization’s time zone.</li>
<li>In a URL the filter is percent-encoded, as <code>--data-urlencode</code> does.</li>
</ul>`,
  },
  {
    id: 'paging',
    title: 'Paging',
    text: html`<p>Lists are walked by id. Ask for <code>lastId=0</code> first, then for the id of the last record you got, and stop when <code>data</code> is empty. Repeat the filter on every page.</p>
${shell(`lastId=0
while true; do
  page=$(curl -sG "$MOLAR_URL/api/v1/patients" -H "Authorization: Bearer $MOLAR_TOKEN" \\
    -H "Organization-ID: $MOLAR_ORGANIZATION" --data-urlencode "lastId=$lastId")
  test "$(jq '.data | length' <<<"$page")" = 0 && break
  jq -c '.data[]' <<<"$page"
  lastId=$(jq '.data[-1].id' <<<"$page")
done`)}
<ul>
<li><code>pageSize</code> is ${DEFAULT_PAGE_SIZE} unless you say otherwise, and ${MAX_PAGE_SIZE} at most. A page is short only when it is the last.</li>
<li>With <code>lastId</code> the ids ascend, always. New records have higher ids than all before them, so a walk misses none.</li>
<li><code>page</code> counts from 1. It is slower the further it goes, and records that come or go move the pages; appointment histories know nothing else.</li>
<li>Do not stop on <code>meta.pagination.total</code>: several lists do not count.</li>
</ul>`,
  },
  {
    id: 'fields',
    title: 'Choosing fields',
    text: html`<p><code>responseFields</code> names the fields to answer, joined by commas. <code>id</code> and <code>type</code> always come. <code>ALL</code>, or leaving it out, answers every field. A part of a link may be named: <code>preferredLocation.id</code>. An unknown name is refused, with the known ones.</p>
${shell('responseFields=firstName,lastName,preferredLocation.id')}
<p>A record has every field on every answer: null where it has no value, an empty list where it has no entries.</p>`,
  },
  {
    id: 'values',
    title: 'Values',
    text: html`<ul>
<li>Ids are numbers up to 2<sup>53</sup>; numeric text is read too. Links are objects: <code>{"id": 5}</code>.</li>
<li>Dates are <code>YYYY-MM-DD</code>. Date-times are answered in UTC (<code>2026-03-02T15:30:00.000Z</code>) and read with a zone, an offset, or none: then they are local to the record’s location.</li>
<li>Listed values are read in any letter case and answered as listed.</li>
<li>Text is trimmed; lengths count characters, not bytes.</li>
<li>Money is in dollars with two decimals, except where a field says cents.</li>
<li>In a body, null clears a value. A read-only property is ignored with a warning, an unknown one is refused.</li>
</ul>`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>Every refusal has the same form. All problems of a request are reported together, each with a stable <code>code</code>, and with the field, filter key, parameter or header at fault as <code>source</code>.</p>
<pre><code>${jsonCode(EXAMPLE_FAILURE)}</code></pre>
<p>Repeat on 408, 429 and 5xx, waiting longer each time; a 400 will not get better. A record of another organization is answered like one that does not exist.</p>
${failuresTable()}`,
  },
  {
    id: 'idempotency',
    title: 'Repeating safely',
    text: html`<p>Send an <code>Idempotency-Key</code> of your own making with a POST. When the connection is lost, send the same request again: if the first one was done, its answer comes again, with <code>Idempotency-Replayed: true</code>, and nothing is done twice.</p>
<ul>
<li>Keys are kept for 24 hours, for each organization, token and route.</li>
<li>The same key with another body is refused (400); while the first request runs, the second is told to wait (409).</li>
<li>A refused request does not use up its key.</li>
</ul>
<p>PUT and DELETE may always be repeated. A PUT that changes nothing is answered with 200 and leaves <code>lastModified</code> as it is.</p>`,
  },
  {
    id: 'limits',
    title: 'Rate limits',
    text: html`<p>Bulk reads, counts and calendar events share a rate for each organization and token: ${DEFAULT_RATE} requests a second, with bursts of ${DEFAULT_RATE * 2}, unless the server was set otherwise. <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> tell where you stand. Beyond it: 429, with <code>Retry-After</code> in seconds.</p>
<p>Unknown tokens are limited for each address: ${DEFAULT_ATTEMPTS} at once and one a second after that; a wrong client secret counts as ten. Beyond it: 429 for tokens that were not accepted before, until Retry-After is over.</p>
<p>A request that takes too long is answered with 408: narrow the filter or ask for smaller pages.</p>`,
  },
  {
    id: 'stream',
    title: 'Stream of changes',
    text: html`<p><code>GET ${API_PREFIX}${STREAM_PATH}</code> tells every change of the organization, in the order in which changes were committed. The answer does not end.</p>
<pre><code>curl -N "$MOLAR_URL${API_PREFIX}${STREAM_PATH}?routingKey=$MOLAR_ORGANIZATION.*.PatientV1.*" \\
  -H "Authorization: Bearer $MOLAR_TOKEN" \\
  -H "Organization-ID: $MOLAR_ORGANIZATION"</code></pre>
<p>It comes as Server-Sent Events: <code>id</code> is the position, <code>event</code> the operation, <code>data</code> the message. With <code>Accept: application/x-ndjson</code> it comes as one message a line.</p>
<pre><code>${jsonCode(EXAMPLE_MESSAGE)}</code></pre>
<p><code>routingKey</code> may be repeated; <code>*</code> stands for one segment, <code>#</code> for any number. The second segment is the id of the record’s location, or <code>*</code> where it has none. Kinds of records: ${codes(DOMAIN_TYPES)}</p>
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
  },
];

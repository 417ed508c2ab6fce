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
import { DEFAULT_RETENTION_DAYS } from '../stream/stream.ts';
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
<p>Get a token from the server’s operator, or exchange client credentials for one:</p>
${shell(`curl "$MOLAR_URL${TOKEN_PATH}?grant_type=client_credentials" \\
  --data-urlencode "client_id=$MOLAR_CLIENT_ID" \\
  --data-urlencode "client_secret=$MOLAR_CLIENT_SECRET"`)}
<p>A token has scopes; each operation states the one it requires.</p>
${table(['Scope', 'Allows'], Object.entries(SCOPE_MEANINGS))}
<p>Responses are envelopes: <code>data</code>, <code>warnings</code> and <code>errors</code>, and on bulk reads <code>meta.pagination</code>. A warning reports something that was ignored or added; the request still succeeded. Every response has an <code>X-Request-ID</code>; send your own to find the request in both logs.</p>`,
  },
  {
    id: 'filters',
    title: 'Filters',
    text: html`<p><code>filter</code> is a list of terms separated by commas, each a key, an operator and a value. A record must match all terms; a key may be repeated.</p>
${shell('filter=lastName~=Sm,patientStatus==ACTIVE,preferredLocation.id->[5,6]')}
${operatorsTable()}
<ul>
<li>A value with commas, brackets or quotes goes in double quotes: <code>lastName=="Smith, Jr."</code>. Inside quotes, write <code>\\"</code> for a quote and <code>\\\\</code> for a backslash.</li>
<li>Each operation lists its keys and their operators; all others are refused, never ignored.</li>
<li><code>key==</code> without a value is refused; use <code>.absent</code> where it is listed.</li>
<li>Locations: an id, a list, or <code>ALL</code> (or <code>*</code>) for all of them.</li>
<li>A date compared with a date-time means midnight in the organization’s time zone.</li>
<li>In a URL the filter is percent-encoded, as <code>--data-urlencode</code> does.</li>
</ul>`,
  },
  {
    id: 'paging',
    title: 'Paging',
    text: html`<p>Page through lists by id. Start with <code>lastId=0</code>, continue with the id of the last record received, and stop when <code>data</code> is empty. Send the same filter with every page.</p>
${shell(`lastId=0
while true; do
  page=$(curl -sG "$MOLAR_URL/api/v1/patients" -H "Authorization: Bearer $MOLAR_TOKEN" \\
    -H "Organization-ID: $MOLAR_ORGANIZATION" --data-urlencode "lastId=$lastId")
  test "$(jq '.data | length' <<<"$page")" = 0 && break
  jq -c '.data[]' <<<"$page"
  lastId=$(jq '.data[-1].id' <<<"$page")
done`)}
<ul>
<li><code>pageSize</code> is ${DEFAULT_PAGE_SIZE} by default and ${MAX_PAGE_SIZE} at most. Only the last page is shorter.</li>
<li>With <code>lastId</code>, ids always ascend. New records get higher ids than all earlier ones, so none is missed.</li>
<li><code>page</code> counts from 1. Later pages are slower, and records created or deleted meanwhile shift the pages; appointment histories support nothing else.</li>
<li>Do not rely on <code>meta.pagination.total</code> to stop: several lists do not return it.</li>
</ul>`,
  },
  {
    id: 'fields',
    title: 'Choosing fields',
    text: html`<p><code>responseFields</code> lists the fields to return, separated by commas. <code>id</code> and <code>type</code> are always returned. <code>ALL</code>, or no <code>responseFields</code>, returns every field. A part of a link can be selected: <code>preferredLocation.id</code>. An unknown name is refused, and the error lists the known ones.</p>
${shell('responseFields=firstName,lastName,preferredLocation.id')}
<p>A record has every field in every response: null where it has no value, an empty list where it has no entries.</p>`,
  },
  {
    id: 'values',
    title: 'Values',
    text: html`<ul>
<li>Ids are numbers up to 2<sup>53</sup>; numeric text is accepted too. Links are objects: <code>{"id": 5}</code>.</li>
<li>Dates are <code>YYYY-MM-DD</code>. Date-times are returned in UTC (<code>2026-03-02T15:30:00.000Z</code>) and accepted with a zone, an offset, or neither: then they are local to the record’s location.</li>
<li>Listed values are accepted in any letter case and returned as listed.</li>
<li>Text is trimmed; lengths count characters, not bytes.</li>
<li>Money is in dollars with two decimals, except where a field says cents.</li>
<li>In a body, null clears a value. A read-only property is ignored with a warning, an unknown one is refused.</li>
</ul>`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>Every error response has the same form. All problems of a request are reported together, each with a stable <code>code</code>, and with the field, filter key, parameter or header at fault as <code>source</code>.</p>
<pre><code>${jsonCode(EXAMPLE_FAILURE)}</code></pre>
<p>Retry on 408, 429 and 5xx, waiting longer each time; retrying a 400 does not help. A record of another organization gives the same response as one that does not exist.</p>
${failuresTable()}`,
  },
  {
    id: 'idempotency',
    title: 'Retrying safely',
    text: html`<p>Generate an <code>Idempotency-Key</code> and send it with a POST. When the connection is lost, send the same request again: if the first one succeeded, its response is returned again, with <code>Idempotency-Replayed: true</code>, and nothing is done twice.</p>
<ul>
<li>Keys are stored for 24 hours, per organization, token and route.</li>
<li>The same key with another body is refused (400); while the first request runs, the second has to wait (409).</li>
<li>A refused request does not use up its key.</li>
</ul>
<p>PUT and DELETE are always safe to repeat. A PUT that changes nothing returns 200 and leaves <code>lastModified</code> as it is.</p>`,
  },
  {
    id: 'limits',
    title: 'Rate limits',
    text: html`<p>Bulk reads, counts and calendar events share one rate limit per organization and token: by default ${DEFAULT_RATE} requests per second, with bursts of ${DEFAULT_RATE * 2}. <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> show what is left. Above the limit: 429, with <code>Retry-After</code> in seconds.</p>
<p>Unknown tokens are limited per address: ${DEFAULT_ATTEMPTS} at once and one per second after that; wrong secrets of a client are limited per address and client, and count as ten. Above the limit: 429 until Retry-After has passed; a valid token is never refused.</p>
<p>A request that takes too long returns 408: narrow the filter or request smaller pages.</p>`,
  },
  {
    id: 'stream',
    title: 'Stream of changes',
    text: html`<p><code>GET ${API_PREFIX}${STREAM_PATH}</code> sends every change in the organization, in the order in which changes were committed. The response does not end.</p>
<pre><code>curl -N "$MOLAR_URL${API_PREFIX}${STREAM_PATH}?routingKey=$MOLAR_ORGANIZATION.*.PatientV1.*" \\
  -H "Authorization: Bearer $MOLAR_TOKEN" \\
  -H "Organization-ID: $MOLAR_ORGANIZATION"</code></pre>
<p>Messages are Server-Sent Events: <code>id</code> is the position, <code>event</code> the operation, <code>data</code> the message. With <code>Accept: application/x-ndjson</code>, each message is one line of JSON.</p>
<pre><code>${jsonCode(EXAMPLE_MESSAGE)}</code></pre>
<p><code>routingKey</code> may be repeated; <code>*</code> matches one segment, <code>#</code> any number. The second segment is the id of the record’s location, or <code>*</code> where it has none. Kinds of records: ${codes(DOMAIN_TYPES)}</p>
${table(
  ['Operation', 'Payload'],
  [
    ['CREATE', 'The complete record; a document without its download links.'],
    [
      'UPDATE',
      'The id, the type where the record has one, and what changed. An update that changes nothing sends no message.',
    ],
    ['DELETE', 'The id, and the ledgerType of a transaction.'],
    ['READ', 'A record requested from an async endpoint.'],
    ['READ_COMPLETE', 'The total of a delivery; always its last message.'],
    ['resync', 'Messages were missed and have been deleted: read the records again.'],
  ],
)}
<ul>
<li>Messages about transactions have their <code>ledgerType</code>. A correction is sent as the CREATE of the new row.</li>
<li>To resume, send the <code>id</code> of the last event as <code>Last-Event-ID</code> or <code>lastEventId</code> (from NDJSON, the <code>id</code> of the last message): no message is skipped, though one may arrive twice. 0 starts with the oldest message stored; without an id the stream starts now. After a restore or a failover the first message is a <code>resync</code>.</li>
<li>Messages are stored for ${DEFAULT_RETENTION_DAYS} days by default. Resuming later than that gives a <code>resync</code> first.</li>
<li>When nothing changes, a comment (in NDJSON an empty line) is sent every ${LISTENER_TIMES.heartbeatMs / 1000} seconds: a connection that is silent for much longer is dead. The stream requires the scope <code>model:read</code>, and ends when the token expires or is revoked.</li>
<li>An async endpoint returns its first ten records at once. The stream delivers all of them as READ messages; their <code>correlationId</code> is the <code>${CORRELATION_HEADER}</code> of the response. Connect to the stream before you send the request.</li>
</ul>`,
  },
];

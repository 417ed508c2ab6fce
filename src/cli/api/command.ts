import * as Args from '@oclif/core/args';
import { documents } from '../../catalog/resources/documents.ts';
import type { LinkFetching } from '../../core/documents/links/fetchlink.ts';
import { documentLookUp } from '../../core/documents/uploads/stored.ts';
import { usageFailure } from '../../core/failure.ts';
import { createdRecordLookups } from '../../core/lookup/createdrecord.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { FORMATS, type Format, formatsFor, terminalSafe } from '../../core/output/formats.ts';
import { streamSink } from '../../core/output/sink.ts';
import type { ApiClient, ApiRequest, ApiResponse } from '../../core/transport/client.ts';
import { dryRunText, queryText } from '../crud/dryrun.ts';
import { linkFetching } from '../documents/linkfetching.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { writeRows } from '../rows/output.ts';
import { readAll } from '../terminal/streams.ts';
import { rawPages } from './pages.ts';
import { knownOperation, type RawRequest, readRawRequest, targetOf, withNearestPath } from './request.ts';

const plain = flagGroup();
const output = flagGroup('OUTPUT');

/** Sends one request to any path of the API, or reads a list page by page, and prints the response. */
export abstract class ApiCommand extends MolarCommand {
  static override args = {
    // One argument alone is the path; `readRawRequest` tells them apart.
    method: Args.string({ ignoreStdin: true, description: 'GET, POST, PUT or DELETE; may be left out' }),
    path: Args.string({ ignoreStdin: true, description: 'Path below /api/v1, such as patients/1001' }),
  };
  static override flags = {
    paginate: plain.toggle('Every record of a list, page after page'),
    field: plain.list('NAME=VALUE', 'A query parameter; repeatable'),
    data: plain.text('FILE|-', 'JSON to send; POST unless METHOD says otherwise'),
    'dry-run': plain.toggle('Print the request and send nothing'),
    format: output.text(formatsFor('value').join('|'), 'Output format, json when not given', {
      options: [...formatsFor('value')],
    }),
    json: output.toggle('Same as --format json; errors are JSON too'),
    out: output.text('FILE', 'Write to a file, replaced only when the output is complete'),
    ...talkFlags,
    ...connectionFlags,
  };

  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const format = readFormat(flags);
    const { streams, signal } = this.context;
    const request = await readRawRequest(input, () => readAll(streams.stdin.chunks, signal));
    if (isOn(flags, 'paginate') && request.method !== 'GET') {
      throw usageFailure('--paginate goes with GET only.', { source: '--paginate' });
    }
    if (isOn(flags, 'dry-run')) return this.print(this.described(request, flags));
    try {
      await (isOn(flags, 'paginate') ? this.paginate(request, format, flags) : this.once(request, format, flags));
    } catch (cause) {
      throw withNearestPath(cause, request.path);
    }
  }

  private async once(request: RawRequest, format: Format, flags: FlagValues): Promise<void> {
    const { streams } = this.context;
    const out = textFlag(flags, 'out');
    const sink = out === undefined ? streamSink(streams.stdout.write) : await openAtomicFile(out);
    try {
      const { value } = FORMATS[format];
      if (value === undefined) throw new Error(`${format} cannot write a value.`);
      const text = value(envelopeOf(await this.send(request, flags)));
      await sink.write(out === undefined && streams.stdout.isTTY ? terminalSafe(format)(text) : text);
      await sink.commit();
    } catch (cause) {
      await sink.abort();
      throw cause;
    }
  }

  private described({ method, path, query, body }: RawRequest, flags: FlagValues): string {
    const written = { method, path, query: queryText(query), ...(body !== undefined && { body: body.value }) };
    return dryRunText(flags, this.context, written);
  }

  private async send(request: RawRequest, flags: FlagValues): Promise<ApiResponse> {
    const { method, path, query, body } = request;
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), this.context);
    return client.request({
      method,
      path: targetOf(path, query),
      ...(body !== undefined && { body: body.value }),
      ...lookupsOf(client, request, fetching),
      signal: this.context.signal,
    });
  }

  private async paginate(request: RawRequest, format: Format, flags: FlagValues): Promise<void> {
    const { context } = this;
    const nothing = { selection: undefined, fields: undefined, limit: undefined, sort: undefined, columns: [] };
    const out = textFlag(flags, 'out');
    const toTerminal = context.streams.stdout.isTTY && out === undefined;
    const place = { out, toTerminal, isDefaultLimit: false, pageSize: 0 };
    await writeRows({
      context,
      flags,
      plan: { format, ...nothing, ...place },
      one: 'record',
      many: 'records',
      open: async () => rawPages(await this.connect(flags), request, context.signal),
      note: (text) => this.note(text),
    });
  }
}

/** Throws a Failure (exit 2) for what is not to be. */
function readFormat(flags: FlagValues): Format {
  if (textFlag(flags, 'out') === '') throw usageFailure('--out must name a file.', { source: '--out' });
  return namedFormat(flags) ?? 'json';
}

/** The envelope (specification, Response envelope); a successful one has no errors. */
function envelopeOf({ data, warnings, meta }: ApiResponse) {
  return { data, warnings, errors: [], ...(meta !== null && { meta }) };
}

/** How to look up a raw POST whose response was lost (D49): look for its record, repeat it where that is safe, or neither. */
function lookupsOf(
  client: ApiClient,
  { method, path, body }: RawRequest,
  fetching: LinkFetching,
): Pick<ApiRequest, 'repeatable' | 'lookUp' | 'checkDuplicates'> {
  const known = method === 'POST' ? knownOperation(method, path) : undefined;
  if (known?.operation.shape === 'replace') return { repeatable: true };
  if (known?.operation.shape !== 'create') return {};
  if (known.resource !== documents) return createdRecordLookups(client, known.resource, body?.value);
  const lookUp = documentLookUp(client, fetching, body?.value);
  return lookUp === undefined ? {} : { lookUp };
}

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { usageFailure } from '../../core/failure.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { streamSink } from '../../core/output/sink.ts';
import { terminalSafe } from '../../core/output/terminalsafe.ts';
import type { ApiResponse } from '../../core/transport/client.ts';
import { dryRunText } from '../crud/dryrun.ts';
import { linkFetching } from '../documents/linkfetching.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { writeRows } from '../rows/output.ts';
import { readAll } from '../terminal/streams.ts';
import { withNearestPath } from './nearest.ts';
import { rawPages } from './pages.ts';
import { queryText, type RawRequest, readRawRequest, targetOf } from './request.ts';
import { settlingOf } from './settling.ts';

const helpGroup = 'OUTPUT';

export const apiArguments = {
  // One argument alone is the path; `readRawRequest` tells them apart.
  method: Args.string({ ignoreStdin: true, description: 'GET, POST, PUT or DELETE; may be left out' }),
  path: Args.string({ ignoreStdin: true, description: 'Path below /api/v1, such as patients/1001' }),
};

export const apiFlags = {
  paginate: Flags.boolean({ summary: 'Every record of a list, page after page' }),
  field: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME=VALUE',
    summary: 'A query parameter; repeatable',
  }),
  data: Flags.string({ helpValue: 'FILE|-', summary: 'JSON to send; POST unless METHOD says otherwise' }),
  'dry-run': Flags.boolean({ summary: 'Print the request and send nothing' }),
  format: Flags.string({
    helpGroup,
    helpValue: 'json|ndjson',
    options: ['json', 'ndjson'],
    summary: 'Form of the output, json when not given',
  }),
  json: Flags.boolean({ helpGroup, summary: 'Same as --format json; errors are JSON too' }),
  out: Flags.string({ helpGroup, helpValue: 'FILE', summary: 'Write to a file, replaced only when it is whole' }),
  ...talkFlags,
  ...connectionFlags,
};

/** Sends one request to any path of the API, or walks a list, and prints what comes back. */
export abstract class ApiCommand extends MolarCommand {
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

  private async once(request: RawRequest, format: 'json' | 'ndjson', flags: FlagValues): Promise<void> {
    const { streams } = this.context;
    const out = textFlag(flags, 'out');
    const sink = out === undefined ? streamSink(streams.stdout.write) : await openAtomicFile(out);
    try {
      const answer = await this.send(request, flags);
      const text = envelopeText(answer, format);
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
      ...settlingOf(client, request, fetching),
      signal: this.context.signal,
    });
  }

  private async paginate(request: RawRequest, format: 'json' | 'ndjson', flags: FlagValues): Promise<void> {
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

function readFormat(flags: FlagValues): 'json' | 'ndjson' {
  const format = textFlag(flags, 'format');
  if (format === 'ndjson' && isOn(flags, 'json')) {
    throw usageFailure('--format and --json name different formats; give one.', { source: '--json' });
  }
  if (textFlag(flags, 'out') === '') throw usageFailure('--out must name a file.', { source: '--out' });
  return format === 'ndjson' ? 'ndjson' : 'json';
}

/** The envelope (specification, Response envelope); a successful one has no errors. */
function envelopeText({ data, warnings, meta }: ApiResponse, format: 'json' | 'ndjson'): string {
  const envelope = { data, warnings, errors: [], ...(meta !== null && { meta }) };
  return `${format === 'json' ? JSON.stringify(envelope, null, 2) : JSON.stringify(envelope)}\n`;
}

import type { FlagInput } from '@oclif/core/interfaces';
import type { Resource } from '../../catalog/define.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiClient, Query } from '../../core/transport/client.ts';
import { warningText } from '../connections.ts';
import { bodyFlags, dryRunFlag } from '../flags/body.ts';
import { type BodyInput, type BodyRules, readBody } from '../flags/bodyinput.ts';
import type { LocalTimes } from '../flags/localtimes.ts';
import { recordFormat } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { readAll } from '../terminal/streams.ts';
import { dryRunText, queryText } from './dryrun.ts';
import { commonFlags, ResourceCommand } from './resourcecommand.ts';

export function writeFlags(resource: Resource, mode: 'create' | 'update'): FlagInput {
  const body = resource.operations[mode]?.body ?? {};
  return { ...bodyFlags(body, mode), ...dryRunFlag, ...commonFlags, ...recordFormat };
}

/** What create and update share: a body from flags, checked before it is sent, and the resulting record shown. */
export abstract class WriteCommand extends ResourceCommand {
  protected abstract readonly mode: 'create' | 'update';

  /** What the resource wants of a body beside its fields; `times` gives the zone of times given without one. */
  protected bodyRules(_flags: FlagValues, _times: LocalTimes): BodyRules {
    return {};
  }

  /** Query parameters of the resource beside `responseFields`. */
  protected queryOf(_flags: FlagValues): Query {
    return {};
  }

  /** Sends the body and gives the record that came of it. */
  protected abstract send(client: ApiClient, input: BodyInput, query: Query): Promise<Row>;

  /** The body that the flags describe, by the rules of the resource or others; the user learns what is not sent. Throws a Refusal or a Failure. */
  protected async readInput(flags: FlagValues, rules?: BodyRules): Promise<BodyInput> {
    const { context, operation, mode } = this;
    const stdin = () => readAll(context.streams.stdin.chunks, context.signal);
    const input = await this.inLocalTime(flags, (times) =>
      readBody(flags, operation.body ?? {}, { mode, stdin, times, rules: rules ?? this.bodyRules(flags, times) }),
    );
    for (const warning of input.warnings) await this.note(`Warning: ${warningText(warning)}`);
    return input;
  }

  protected async write(flags: FlagValues, path: string): Promise<void> {
    const { context, fields, operation } = this;
    const plan = planRecord(flags, fields, context);
    const input = await this.readInput(flags);
    const selected = readFieldSelection(plan.selection?.join(','), fields, '--fields')?.join(',');
    const query = { ...this.queryOf(flags), responseFields: operation.selectable ? selected : undefined };
    if (isOn(flags, 'dry-run')) {
      const request = { method: operation.method, path, query: queryText(query), body: input.body };
      return this.print(dryRunText(flags, context, request));
    }
    const client = await this.connect(flags);
    const did = this.mode === 'create' ? 'created' : 'changed';
    await writeRecord(
      plan,
      fields,
      flags,
      context,
      () => this.send(client, input, query),
      (record) => `The ${this.resource.one} was ${did}: id ${record.id}.`,
    );
  }
}

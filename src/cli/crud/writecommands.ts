import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { createdRecordLookups } from '../../core/lookup/createdrecord.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiClient, Query } from '../../core/transport/client.ts';
import { warningText } from '../connections.ts';
import { type BodyInput, type BodyRules, bodyFlags, dryRunFlag, readBody } from '../flags/body.ts';
import { recordFormat } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import type { LocalTimes } from '../flags/zone.ts';
import type { CommandInput } from '../molarcommand.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { readAll } from '../terminal/streams.ts';
import { dryRunText, queryText } from './dryrun.ts';
import { commonFlags, idArgument, ResourceCommand, readIdArgument, recordOf, withArticle } from './resourcecommand.ts';

type Mode = 'create' | 'update';

/** Flags of a command that creates or updates a record. */
export function writeFlags(resource: Resource, mode: Mode): FlagInput {
  const body = resource.operations[mode]?.body ?? {};
  const keys = resource.operations.list?.filters ?? {};
  return { ...bodyFlags(body, mode, keys), ...dryRunFlag, ...commonFlags, ...recordFormat };
}

/** What create and update share: a body from flags, checked before it is sent, and the resulting record shown. */
abstract class WriteCommand extends ResourceCommand {
  protected abstract override readonly verb: Mode;

  /** What a body has to obey beside its fields; `times` has the zone of times given without one. */
  protected bodyRules(_flags: FlagValues, _times: LocalTimes): BodyRules {
    return {};
  }

  /** Query parameters of the resource beside `responseFields`. */
  protected queryOf(_flags: FlagValues): Query {
    return {};
  }

  /** Sends the body and returns the record that resulted. */
  protected abstract send(client: ApiClient, input: BodyInput, query: Query): Promise<Row>;

  /** The body that the flags describe, by the rules of the resource or others; notes say what is not sent. Throws a Refusal or a Failure. */
  protected async readInput(flags: FlagValues, rules?: BodyRules): Promise<BodyInput> {
    const { context, operation, verb: mode } = this;
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
      const request = { method: operation.method, path, query: queryText(Object.entries(query)), body: input.body };
      return this.print(dryRunText(flags, context, request));
    }
    const client = await this.connect(flags);
    const did = this.verb === 'create' ? 'created' : 'changed';
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

/** Creates a record, exactly once even when its response is lost or says nothing. */
abstract class CreateCommand extends WriteCommand {
  protected override readonly verb = 'create';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    await this.write(flags, pathOf(this.operation));
  }

  protected async send(client: ApiClient, { body }: BodyInput): Promise<Row> {
    const { signal } = this.context;
    const response = await client.request({
      method: 'POST',
      path: pathOf(this.operation),
      body,
      ...createdRecordLookups(client, this.resource, body),
      signal,
    });
    return recordOf(response);
  }
}

/** The create command of a resource. */
export function createCommand(resource: Resource) {
  return class extends CreateCommand {
    static override summary = `Create ${withArticle(resource.one)}`;
    static override flags = writeFlags(resource, 'create');
    protected override readonly resource = resource;
  };
}

/** Changes the given fields of a record. */
export abstract class UpdateCommand extends WriteCommand {
  static override usage = '<%= command.id %> ID [FLAGS]';
  protected override readonly verb = 'update';
  /** Id of the record to change. */
  protected recordId = 0;

  override async run(): Promise<void> {
    const input = await this.input();
    this.recordId = readIdArgument(input);
    await this.update(input);
  }

  /** Makes the change that the command line describes. */
  protected async update(input: CommandInput): Promise<void> {
    await this.write(input.flags, pathOf(this.operation, this.recordId));
  }

  /** The record as it is on the server now. Throws what a request throws. */
  protected async stored(flags: FlagValues): Promise<Row> {
    const client = await this.connect(flags);
    const path = pathOf(operationOf(this.resource, 'get'), this.recordId);
    return recordOf(await client.request({ method: 'GET', path, signal: this.context.signal }));
  }

  protected async send(client: ApiClient, { body }: BodyInput, query: Query): Promise<Row> {
    const { signal } = this.context;
    const path = pathOf(this.operation, this.recordId);
    return recordOf(await client.request({ method: 'PUT', path, query, body, signal }));
  }
}

/** The update command of a resource. */
export function updateCommand(resource: Resource) {
  return class extends UpdateCommand {
    static override summary = `Change ${withArticle(resource.one)}; only what is given changes`;
    static override args = idArgument(resource);
    static override flags = writeFlags(resource, 'update');
    protected override readonly resource = resource;
  };
}

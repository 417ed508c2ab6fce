import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import { jsonOf } from '../../core/jsontext.ts';
import type { Row } from '../../core/pages/page.ts';
import { ApiFailure } from '../../core/transport/apifailure.ts';
import type { ApiClient, Query } from '../../core/transport/client.ts';
import { bodyText, type Envelope, readEnvelope } from '../../core/transport/envelope.ts';
import { dryRunFlag } from '../flags/body.ts';
import { flagGroup } from '../flags/declare.ts';
import { idsArgument, readIds } from '../flags/idlist.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { readZones } from '../names/profilenames.ts';
import { writeRows } from '../rows/output.ts';
import { clocksOf } from '../rows/places.ts';
import { planRows } from '../rows/plan.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { DeletionRun, deletionFields } from './deletionrun.ts';
import { dryRunText, queryText } from './dryrun.ts';
import { recordName } from './recordname.ts';
import { commonFlags, examplesOf, ResourceCommand, withArticle } from './resourcecommand.ts';

const { toggle } = flagGroup();

/** Flags of every command that deletes records. */
export const deleteFlags: FlagInput = {
  yes: toggle('Do not ask; required where there is no terminal to ask on'),
  'ignore-missing': toggle('Treat missing records as deleted'),
  ...dryRunFlag,
  ...commonFlags,
};

/** The response to a delete: its content is specified for few resources, so an empty body or any JSON object will do. */
function readDeletion(body: Uint8Array): Envelope | undefined {
  const text = bodyText(body);
  const isDone = text.trim() === '' || isPlainObject(jsonOf(text));
  return readEnvelope(text) ?? (isDone ? { data: null, warnings: [], errors: [], meta: null } : undefined);
}

/** Maximum ids named in a question. */
const MAX_NAMED = 5;

/** Deletes one record after asking, and prints what the server says; for several it asks once and prints each outcome. */
abstract class DeleteCommand extends ResourceCommand {
  static override usage = '<%= command.id %> ID… [FLAGS]';
  static override flags = deleteFlags;
  protected override readonly verb = 'delete';

  /** Query parameters of the resource. */
  protected queryOf(_flags: FlagValues): Query {
    return {};
  }

  /** What is about to be deleted, in words. */
  protected describe(_flags: FlagValues, id: number): string {
    return `${this.resource.one} ${id}`;
  }

  /** Several of what is about to be deleted, in words. */
  protected describeMany(_flags: FlagValues, count: number): string {
    return `${count.toLocaleString('en-US')} ${this.resource.many}`;
  }

  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const { ids, isOne } = await readIds(input, this.context);
    const [id = 0] = ids;
    const write = isOne ? this.one(flags, id) : this.several(flags, ids);
    if (isOn(flags, 'dry-run')) return this.print(this.dryRun(flags, ids, isOne));
    if (!isOn(flags, 'yes')) await this.ask(flags, ids, isOne);
    await write();
  }

  /** Checks the output flags, and returns what deletes the record. */
  private one(flags: FlagValues, id: number): () => Promise<void> {
    const { context, fields, resource } = this;
    const plan = planRecord(flags, fields, context);
    return async () => {
      const client = await this.connect(flags);
      let answer: Row | undefined;
      const remove = async () => {
        answer = await this.remove(client, flags, id);
        return answer ?? { id };
      };
      await writeRecord(plan, fields, flags, context, remove, () => `The ${resource.one} was deleted.`);
      await this.note(answer ? `Deleted ${this.describe(flags, id)}.` : `There is no ${resource.one} ${id}.`);
    };
  }

  private several(flags: FlagValues, ids: readonly number[]): () => Promise<void> {
    const { context, resource } = this;
    const { signal, streams } = context;
    const plan = planRows(flags, deletionFields, Object.keys(deletionFields), streams.stdout.isTTY);
    const run = new DeletionRun();
    return async () => {
      const client = await this.connect(flags);
      const remove = async (id: number) => (await this.remove(client, flags, id)) !== undefined;
      const pages = async function* () {
        const held: Row[] = [];
        for await (const deletion of run.over(ids, remove, signal)) {
          // While none is deleted, outcomes are buffered: when all fail, only the failure is printed, as for one record.
          if (run.deleted === 0) held.push({ ...deletion });
          else yield { rows: [...held.splice(0), { ...deletion }] };
        }
        const failure = run.failure(resource.many);
        if (failure !== undefined && run.deleted === 0) throw failure;
      };
      const note = (text: string) => this.note(text);
      const all = { ...plan, isDefaultLimit: false, limit: undefined };
      await writeRows({ context, flags, plan: all, many: resource.many, open: async () => pages(), note });
      const failure = run.failure(resource.many);
      if (failure !== undefined) throw failure;
      await this.note(`Deleted ${this.describeMany(flags, ids.length)}.`);
    };
  }

  private dryRun(flags: FlagValues, ids: readonly number[], isOne: boolean): string {
    const query = queryText(Object.entries(this.queryOf(flags)));
    const texts = ids.map((id) =>
      dryRunText(flags, this.context, { method: 'DELETE', path: pathOf(this.operation, id), query }),
    );
    return isOne ? texts.join('') : `[\n${texts.map((text) => text.trimEnd()).join(',\n')}\n]\n`;
  }

  /** The response about a deleted record; undefined when it was missing and `--ignore-missing` allows that. */
  private async remove(client: ApiClient, flags: FlagValues, id: number): Promise<Row | undefined> {
    const [path, query] = [pathOf(this.operation, id), this.queryOf(flags)];
    const { signal } = this.context;
    try {
      const { data } = await client.request({ method: 'DELETE', path, query, read: readDeletion, signal });
      return isPlainObject(data) ? { id, ...data } : { id };
    } catch (cause) {
      if (cause instanceof ApiFailure && cause.status === 404 && isOn(flags, 'ignore-missing')) return undefined;
      throw cause;
    }
  }

  private async ask(flags: FlagValues, ids: readonly number[], isOne: boolean): Promise<void> {
    const { streams, signal } = this.context;
    if (!streams.stdin.isTTY || !streams.stderr.isTTY) {
      throw usageFailure('There is no terminal to ask on; add --yes to delete without being asked.', {
        source: '--yes',
      });
    }
    const what = isOne ? await this.nameOne(flags, ids[0] ?? 0) : await this.nameMany(flags, ids);
    const sure = await streams.confirm(`Delete ${what}? This cannot be undone.`, signal).catch(() => false);
    signal.throwIfAborted();
    if (!sure) throw localFailure('run.interrupted', 'Nothing was deleted.', { hint: 'Answer y, or add --yes.' });
  }

  /** Nobody knows records by their ids: what one is called, whose it is and when. */
  private async nameOf(flags: FlagValues, id: number): Promise<string | undefined> {
    const { env, signal } = this.context;
    const clockOf = clocksOf(this.resource.fields, flags, readZones(flags, env));
    return recordName(await this.connect(flags), this.resource, id, { clockOf, signal });
  }

  private async nameOne(flags: FlagValues, id: number): Promise<string> {
    const name = await this.nameOf(flags, id);
    return name === undefined ? this.describe(flags, id) : `${this.describe(flags, id)} (${name})`;
  }

  private async nameMany(flags: FlagValues, ids: readonly number[]): Promise<string> {
    const shown = ids.slice(0, MAX_NAMED);
    const names = ids.length > MAX_NAMED ? [] : await Promise.all(shown.map((id) => this.nameOf(flags, id)));
    const isNamed = names.some((name) => name !== undefined);
    const texts = shown.map((id, at) => (names[at] === undefined ? String(id) : `${id} ${names[at]}`));
    const listed = texts.join(isNamed ? '; ' : ', ');
    const more = ids.length > MAX_NAMED ? ` and ${(ids.length - MAX_NAMED).toLocaleString('en-US')} more` : '';
    return `${this.describeMany(flags, ids.length)} (${listed}${more})`;
  }
}

/** The delete command of a resource; `exampleId` stands in the examples of its help. */
export function deleteCommand(resource: Resource, exampleId: number) {
  return class extends DeleteCommand {
    static override summary = `Delete ${withArticle(resource.one)}`;
    static override examples = examplesOf(resource, 'delete', `${exampleId}`, `${exampleId} --yes --json`);
    static override args = idsArgument(resource);
    protected override readonly resource = resource;
  };
}

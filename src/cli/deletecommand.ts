import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../catalog/catalog.ts';
import { localFailure, usageFailure } from '../core/failure.ts';
import type { Row } from '../core/pages/walk.ts';
import type { ApiClient, Query } from '../core/transport/client.ts';
import { dryRunText, queryText } from './dryrun.ts';
import { dryRunFlag } from './flags/body.ts';
import { type FlagValues, isOn } from './flagvalues.ts';
import { planRecord, writeRecord } from './recordoutput.ts';
import { commonFlags, ResourceCommand, readIdArgument, recordOf } from './resourcecommand.ts';

export const deleteFlags: FlagInput = {
  yes: Flags.boolean({ summary: 'Do not ask; needed where there is no terminal to ask on' }),
  ...dryRunFlag,
  ...commonFlags,
};

/** Deletes one record after asking, and prints what the server answers: its id. */
export abstract class DeleteCommand extends ResourceCommand {
  static override usage = '<%= command.id %> ID [FLAGS]';
  protected readonly verb = 'delete';

  /** Query parameters of the resource. */
  protected queryOf(_flags: FlagValues): Query {
    return {};
  }

  /** What is about to be deleted, in words. */
  protected describe(_flags: FlagValues, id: number): string {
    return `${this.resource.one} ${id}`;
  }

  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const { context, fields } = this;
    const id = readIdArgument(input);
    const path = pathOf(this.operation, id);
    const plan = planRecord(flags, fields, context);
    const query = this.queryOf(flags);
    if (isOn(flags, 'dry-run')) {
      return this.print(dryRunText(flags, context, { method: 'DELETE', path, query: queryText(query) }));
    }
    const what = this.describe(flags, id);
    if (!isOn(flags, 'yes')) await this.ask(what);
    const client = await this.connect(flags);
    await writeRecord(
      plan,
      fields,
      flags,
      context,
      () => this.remove(client, id, path, query),
      () => `The ${this.resource.one} was deleted.`,
    );
    await this.note(`Deleted ${what}.`);
  }

  private async remove(client: ApiClient, id: number, path: string, query: Query): Promise<Row> {
    const answer = await client.request({ method: 'DELETE', path, query, signal: this.context.signal });
    return answer.status === 404 ? { id } : recordOf(answer);
  }

  private async ask(what: string): Promise<void> {
    const { streams, signal } = this.context;
    if (!streams.stdin.isTTY || !streams.stderr.isTTY) {
      throw usageFailure('There is no terminal to ask on; add --yes to delete without being asked.', {
        source: '--yes',
      });
    }
    const sure = await streams.confirm(`Delete ${what}? This cannot be undone.`, signal).catch(() => false);
    signal.throwIfAborted();
    if (!sure) throw localFailure('run.interrupted', 'Nothing was deleted.', { hint: 'Answer y, or add --yes.' });
  }
}

import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import type { Environment } from '../../core/environment.ts';
import { localFailure } from '../../core/failure.ts';
import type { MirrorPlace } from '../../core/mirror/place.ts';
import { QueryFault } from '../../core/query/fault.ts';
import { checkParameters, readParameters } from '../../core/query/parameters.ts';
import { distinctNames, type QueryResult, queryColumns, queryPages } from '../../core/query/result.ts';
import type { Statement } from '../../core/query/sqlitequery.ts';
import { sqlTokens } from '../../core/query/sqltokens.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { durationFlag } from '../flags/duration.ts';
import { outputFlags, readDestination, rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';
import { mirrorPlace } from '../mirror/place.ts';
import { MolarCommand } from '../molarcommand.ts';
import { writeRows } from '../rows/output.ts';
import { type RowPlan, readRowLimit } from '../rows/plan.ts';
import { durationText } from '../terminal/text.ts';
import { existingMirror } from './mirrorfile.ts';
import { queryFailure } from './queryfailure.ts';
import { readStatement } from './statements.ts';

const { text, list, toggle } = flagGroup('QUERY');
const { fields: _, ...formats } = outputFlags;

export const queryArguments = {
  sql: Args.string({
    ignoreStdin: true,
    description: 'One statement that reads, such as SELECT count(*) FROM patients',
  }),
};

export const queryFlags: FlagInput = {
  file: text('FILE', 'Read the statement from a file; - is standard input'),
  name: text('NAME', 'Read a saved statement: NAME.sql in queries/ of the folder for configuration'),
  param: list('NAME=VALUE', 'Value of :NAME in the statement; may be repeated'),
  from: text('FILE.db', "The mirror to read, or postgres://HOST/DATABASE; else the profile's"),
  fresh: text('TIME', 'Sync the mirror first when it is older than this, such as 15m, or missing'),
  partial: toggle('Read tables whose first load is not finished, too'),
  timeout: text('TIME', 'Stop after this time, such as 30s or 5m; no limit where not given'),
  ...formats,
  limit: { ...rowFlags.limit, summary: 'Stop after N rows' },
  all: { ...rowFlags.all, summary: 'Every row; the default unless a table goes to a terminal' },
  ...talkFlags,
  ...connectionFlags,
};

/** Reads a mirror by SQL and writes the rows as a list does (D52). */
export abstract class QueryCommand extends MolarCommand {
  static override usage = "<%= command.id %> 'SELECT …' [FLAGS]";

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const { context } = this;
    const destination = readDestination(flags, context.streams.stdout.isTTY, 'csv', 'rows');
    const shown = readRowLimit(flags, destination);
    const time = durationFlag(flags, 'timeout');
    const parameters = readParameters(textFlags(flags, 'param'));
    const sql = await readStatement(args.sql, flags, context);
    const engine = mirrorPlace(flags, context, 'from').kind === 'postgres' ? 'postgres' : 'sqlite';
    checkParameters(sqlTokens(sql, engine), parameters);
    const place = await this.mirror(flags);
    const overtime = new AbortController();
    const timer = time === undefined ? undefined : setTimeout(() => overtime.abort(tooLong(time)), time);
    const signal = AbortSignal.any([context.signal, overtime.signal]);
    let result: QueryResult | undefined;
    try {
      const statement = { sql, parameters, partial: isOn(flags, 'partial') };
      result = await openQuery(place, statement, { env: context.env, signal });
      await this.write(result, { ...destination, ...shown }, flags);
    } catch (cause) {
      throw cause instanceof QueryFault ? queryFailure(cause, sql) : cause;
    } finally {
      clearTimeout(timer);
      await result?.close();
    }
  }

  /** The mirror to read, brought up to date first with `--fresh`. */
  private async mirror(flags: FlagValues): Promise<MirrorPlace> {
    if (textFlag(flags, 'fresh') === undefined) return existingMirror(flags, this.context);
    const { FreshMirror, freshLine } = await import('./freshmirror.ts');
    const place = mirrorPlace(flags, this.context, 'from');
    await FreshMirror.start(freshLine(flags, place), this.config);
    return place;
  }

  private async write(
    result: QueryResult,
    chosen: Pick<RowPlan, 'format' | 'out' | 'toTerminal' | 'limit' | 'isDefaultLimit'>,
    flags: FlagValues,
  ): Promise<void> {
    const names = distinctNames(result.names);
    const plan: RowPlan = {
      ...chosen,
      columns: queryColumns(names),
      selection: undefined,
      fields: undefined,
      pageSize: 0,
      sort: undefined,
    };
    await writeRows({
      context: this.context,
      flags,
      plan,
      one: 'row',
      many: 'rows',
      narrower: 'Select fewer columns.',
      open: async () => queryPages(result, names, plan.limit),
      note: (line) => this.note(line),
    });
  }
}

/** Opens a statement in whichever database the mirror is. Throws a QueryFault. */
async function openQuery(
  place: MirrorPlace,
  statement: Statement,
  options: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<QueryResult> {
  if (place.kind === 'file')
    return (await import('./sqliteprocess.ts')).openSqliteQuery(place.name, statement, options);
  const { openPostgresQuery } = await import('../../core/query/postgresquery.ts');
  return openPostgresQuery(place, statement, options.signal);
}

function tooLong(milliseconds: number) {
  return localFailure('query.timeout', `The query was stopped after ${durationText(milliseconds / 1000)}.`);
}

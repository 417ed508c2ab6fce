import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiResponse } from '../../core/transport/client.ts';
import type { Connections } from '../connections.ts';
import type { Context } from '../context.ts';
import { asUnlisted } from '../errors/nextstep.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { quotedWarning, readFilter } from '../flags/filters.ts';
import { outputFlags } from '../flags/output.ts';
import type { FlagValues } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { type CommandInput, MolarCommand } from '../molarcommand.ts';

/** Flags of every command that sends a request to the API and shows the response. */
export const commonFlags: FlagInput = { ...outputFlags, ...zoneFlags, ...talkFlags, ...connectionFlags };

/** `--async`, where the resource has an async endpoint. */
export function asyncFlag({ operations }: Pick<Resource, 'operations'>): FlagInput {
  if (operations.async === undefined) return {};
  const summary = 'Have the server deliver the records over its stream; the output is written when all have arrived';
  return { async: Flags.boolean({ helpGroup: 'EXPORT', summary }) };
}

/** What a list needs of its command. */
export interface Listing {
  readonly context: Context;
  readonly flags: FlagValues;
  readonly connections: Connections;
  readonly note: (text: string) => Promise<void>;
  /** The filter that the flags describe, of these keys. */
  readonly filterOf: (keys: FilterKeys) => Promise<string | undefined>;
}

/** A command on one resource of the catalog and one of its operations. */
export abstract class ResourceCommand extends MolarCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected abstract readonly resource: Resource;
  /** Name of the operation in the catalog: `list`. */
  protected abstract readonly verb: string;

  protected get operation(): Operation {
    return operationOf(this.resource, this.verb);
  }

  /** Adds a hint to the failure of an operation that the specification does not list. */
  protected override async catch(error: unknown): Promise<void> {
    // With --async another operation is requested.
    await super.catch(this.argv.includes('--async') ? error : asUnlisted(error, this.operation));
  }

  /** Fields of the records that the operation responds with. */
  protected get fields(): Fields {
    return this.operation.fields ?? this.resource.fields;
  }

  /** The filter that the flags describe, of these keys, in the zone of this command line. Throws a Refusal. */
  protected async filterOf(flags: FlagValues, keys: FilterKeys = {}): Promise<string | undefined> {
    const filter = await this.inLocalTime(flags, (times) => readFilter(flags, keys, times));
    await this.warnOfQuotes(filter);
    return filter;
  }

  /** This command as the async list needs it. */
  protected listing(flags: FlagValues): Listing {
    return {
      context: this.context,
      flags,
      connections: this.connections(flags),
      note: (text) => this.note(text),
      filterOf: (keys) => this.filterOf(flags, keys),
    };
  }

  /** Warns of a filter that the service may understand differently. */
  protected async warnOfQuotes(filter: string | undefined): Promise<void> {
    const warning = quotedWarning(filter);
    if (warning !== undefined) await this.note(warning);
  }
}

/** Example lines of a command's help: one for each text of arguments. */
export function examplesOf({ name }: Resource, verb: string, ...texts: readonly string[]): string[] {
  return texts.map((text) => `<%= config.bin %> ${name} ${verb} ${text}`);
}

/** Help on lists and counts that a service may limit by date on its own; undefined for others (D13, D48). */
export function dateLimitNote({ one }: Resource, { defaultDate }: Operation, done: string): string | undefined {
  if (defaultDate === undefined) return undefined;
  return `Without a date filter every ${one} is ${done}: molar sends an early date bound, so that the server applies none of its own. --server-defaults leaves that to the server.`;
}

/** A noun with its article: `an appointment`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** The argument of a command on one record; never read from standard input. */
export function idArgument({ one }: Resource) {
  return { id: Args.string({ required: true, ignoreStdin: true, description: `Id of the ${one}` }) };
}

/** The record id given as argument; throws a Failure (exit 2) unless it is a positive integer. */
export function readIdArgument(input: CommandInput): number {
  const id = asId(input.args.id);
  if (id === undefined) throw usageFailure('ID must be a positive integer.', { source: 'ID' });
  return id;
}

/** The record of a response; throws a Failure with exit code 8 when there is none. */
export function recordOf(answer: ApiResponse): Row {
  if (isPlainObject(answer.data)) return answer.data;
  throw localFailure('response.malformed', 'The server sent a response without a record.', {
    requestId: answer.requestId,
  });
}

/** The records of a response that is a complete list; throws a Failure with exit code 8 when it is not. */
export function recordsOf(answer: ApiResponse): readonly Row[] {
  if (Array.isArray(answer.data) && answer.data.every(isPlainObject)) return answer.data;
  throw localFailure('response.malformed', 'The server sent a response whose data is not a list of records.', {
    requestId: answer.requestId,
  });
}

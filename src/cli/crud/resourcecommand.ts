import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import type { Fields } from '../../catalog/record.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiResponse } from '../../core/transport/client.ts';
import { asUnlisted } from '../errors/unlisted.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { quotedWarning, readFilter } from '../flags/filters.ts';
import { outputFlags } from '../flags/output.ts';
import type { FlagValues } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { type CommandInput, MolarCommand } from '../molarcommand.ts';

/** Flags of every command that asks the API something and shows the answer. */
export const commonFlags: FlagInput = { ...outputFlags, ...zoneFlags, ...talkFlags, ...connectionFlags };

/** A command on one resource of the catalog: it says which, and by what name its operation goes there. */
export abstract class ResourceCommand extends MolarCommand {
  protected abstract readonly resource: Resource;
  protected abstract readonly verb: string;

  protected get operation(): Operation {
    return operationOf(this.resource, this.verb);
  }

  /** Reports what went wrong; of an operation that the specification does not list, with a word about that. */
  protected override async catch(error: unknown): Promise<void> {
    // With --async another operation was asked for.
    await super.catch(this.argv.includes('--async') ? error : asUnlisted(error, this.operation));
  }

  /** Fields of the records that the operation answers with. */
  protected get fields(): Fields {
    return this.operation.fields ?? this.resource.fields;
  }

  /** The filter that the flags ask for, of these keys, in the zone of this command line. Throws a Refusal. */
  protected async filterOf(flags: FlagValues, keys: FilterKeys = {}): Promise<string | undefined> {
    const filter = await this.inLocalTime(flags, (times) => readFilter(flags, keys, times));
    await this.warnOfQuotes(filter);
    return filter;
  }

  /** Tells where a filter may not mean to the service what it says. */
  protected async warnOfQuotes(filter: string | undefined): Promise<void> {
    const warning = quotedWarning(filter);
    if (warning !== undefined) await this.note(warning);
  }
}

/** The argument of a command on one record; never read from standard input. */
export function idArgument(about: string) {
  return { id: Args.string({ required: true, ignoreStdin: true, description: about }) };
}

/** The record id given as argument; throws a Failure (exit 2) unless it is a positive integer. */
export function readIdArgument(input: CommandInput): number {
  const id = asId(input.args.id);
  if (id === undefined) throw usageFailure('ID must be a positive integer.', { source: 'ID' });
  return id;
}

/** The record of an answer; throws a Failure with exit code 8 when there is none. */
export function recordOf(answer: ApiResponse): Row {
  if (isPlainObject(answer.data)) return answer.data;
  throw localFailure('response.malformed', 'The server sent an answer without a record.', {
    requestId: answer.requestId,
  });
}

/** The records of an answer that lists them whole; throws a Failure with exit code 8 when it does not. */
export function recordsOf(answer: ApiResponse): readonly Row[] {
  if (Array.isArray(answer.data) && answer.data.every(isPlainObject)) return answer.data;
  throw localFailure('response.malformed', 'The server sent an answer whose data is not a list of records.', {
    requestId: answer.requestId,
  });
}

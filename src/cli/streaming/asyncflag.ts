import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import type { Resource } from '../../catalog/define.ts';

/** `--async`, where the resource has an async endpoint. */
export function asyncFlag({ operations }: Pick<Resource, 'operations'>): FlagInput {
  if (operations.async === undefined) return {};
  const summary = 'Have the server deliver the records over its stream; written when all of them have come';
  return { async: Flags.boolean({ helpGroup: 'EXPORT', summary }) };
}

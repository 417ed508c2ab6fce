import type { Environment } from '../../core/environment.ts';
import { TERMINAL_FORMAT } from '../../core/output/formats.ts';
import { configPath, readConfig } from '../../core/profiles/config.ts';
import { CONFIG_KEYS, configValue } from '../../core/profiles/defaults.ts';
import type { FlagValues } from './values.ts';

type Known = Readonly<Record<string, object>>;

/** Flags that name a format in their own way. */
const FORMAT_FLAGS = ['format', 'json', 'csv', 'excel', 'out', 'split-by'];

/** The flags of a command with the defaults of `molar config` for those not given. Throws a Failure (exit 9) for an unreadable file. */
export function withConfiguredDefaults(
  flags: FlagValues,
  known: Known,
  env: Environment,
  isTerminal: boolean,
): FlagValues {
  const keys = CONFIG_KEYS.filter(({ flag }) => flag !== undefined && Object.hasOwn(known, flag));
  if (keys.length === 0) return flags;
  const config = readConfig(configPath(env));
  const added = keys.flatMap((key) => {
    const { flag = '' } = key;
    const value = configValue(config, key);
    if (value === undefined || flags[flag] !== undefined) return [];
    if (flag === 'format' && !appliesFormat(value, flags, known, isTerminal)) return [];
    return [[flag, value] as const];
  });
  return { ...flags, ...Object.fromEntries(added) };
}

function appliesFormat(value: string, flags: FlagValues, known: Known, isTerminal: boolean): boolean {
  // A table is what a terminal gets anyway, and with its own limit.
  if (isTerminal && value === TERMINAL_FORMAT) return false;
  // A flag reads every format, to refuse one with the reason; its help names those that the command has.
  const { helpValue, options } = (known.format ?? {}) as { helpValue?: string; options?: readonly string[] };
  const formats = helpValue?.split('|') ?? options;
  return !FORMAT_FLAGS.some((name) => flags[name]) && (formats === undefined || formats.includes(value));
}

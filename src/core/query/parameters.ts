import { usageFailure } from '../failure.ts';
import type { SqlToken } from './sqltokens.ts';

/** Values of `--param`, by name. */
export type Parameters = Readonly<Record<string, string | bigint>>;

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/**
 * Reads `name=value` (D52): a whole number without leading zeros is a number, where 64 bits hold it; all else is
 * text. Throws a Failure (exit 2) for a name that is none, or given twice.
 */
export function readParameters(texts: readonly string[]): Parameters {
  const read = new Map<string, string | bigint>();
  for (const text of texts) {
    const [, name, value = ''] = /^[:@$]?([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
    if (name === undefined) throw usageFailure('--param takes NAME=VALUE, such as patient=5.', { source: '--param' });
    if (read.has(name)) throw usageFailure(`--param ${name} is given twice.`, { source: '--param' });
    read.set(name, parameterValue(value));
  }
  return Object.fromEntries(read);
}

function parameterValue(text: string): string | bigint {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return text;
  const number = BigInt(text);
  return number < MIN || number > MAX ? text : number;
}

/**
 * Compares the parameters that a statement has with those that are given: each needs a value, and each value a
 * parameter. Throws a Failure (exit 2).
 */
export function checkParameters(tokens: readonly SqlToken[], given: Parameters): void {
  const positional = tokens.find(({ kind }) => kind === 'positional');
  if (positional !== undefined) {
    throw usageFailure(`Parameters have names: write :name instead of ${positional.text}.`, { source: 'SQL' });
  }
  const names = new Set(tokens.flatMap(({ kind, text }) => (kind === 'parameter' ? [text.slice(1)] : [])));
  const missing = [...names].filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) {
    const example = missing.map((name) => `--param ${name}=VALUE`).join(' ');
    throw usageFailure(`The statement has parameters without a value: give ${example}.`, { source: '--param' });
  }
  const unused = Object.keys(given).filter((name) => !names.has(name));
  if (unused.length === 0) return;
  const known = names.size === 0 ? 'none' : [...names].map((name) => `:${name}`).join(', ');
  throw usageFailure(`The statement has no parameter :${unused.join(', :')}; it has ${known}.`, { source: '--param' });
}

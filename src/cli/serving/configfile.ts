import { readFile } from 'node:fs/promises';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Environment } from '../../core/environment.ts';
import { codeOf, reworded, usageFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import { textFrom } from '../../core/textfile.ts';
import { failureOf } from '../errors/report.ts';
import type { FlagValues } from '../flags/values.ts';

/** A flag of `molar serve`, as far as it says which values a key of the file takes. */
interface Declared {
  readonly type: string;
  readonly multiple?: boolean;
  readonly options?: readonly string[];
  readonly exclusive?: readonly unknown[];
  /** The value is a whole number. */
  readonly whole?: boolean;
}

/** Variables with secrets of the server: no flag takes these, and the file says only where they are. */
export const SECRETS = [
  'PGPASSWORD',
  'MOLAR_AMQP_PASSWORD',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
];

/** The key of the file's table of secrets. */
const SECRETS_KEY = 'secrets';

/** An address with a password of its user. */
const WITH_PASSWORD = /^\w+:\/\/[^/@]*:[^/@]+@|[?&]password=/;

/** What a configuration file sets: flags as if they had been typed, and environment variables with secrets. */
export interface Configuration {
  readonly flags: FlagValues;
  readonly secrets: Readonly<Record<string, string>>;
  /** A failure that names a flag whose value came from the file names the file too; others stay as they are. */
  locate(error: unknown): unknown;
}

/**
 * Reads `--config FILE`, JSON where its name ends in `.json`, else TOML: a key for each flag but `--config`, of the type
 * of the flag, and a table `secrets` (contract §6). Flags that were typed win, also over keys that they exclude. Throws a
 * usage failure (exit 2) that names the file and the key.
 */
export async function readConfiguration(
  path: string,
  declared: Readonly<Record<string, Declared>>,
  typed: FlagValues,
  env: Environment,
): Promise<Configuration> {
  const { [SECRETS_KEY]: secretTable = {}, ...settings } = await parseFile(path);
  const refuse = (problem: string, key: string) => usageFailure(`${path}: ${problem}`, { source: `${path}, ${key}` });
  const keys = Object.keys(declared).filter((name) => name !== 'config');

  /** The text that a value is or refers to; undefined for what is neither. */
  const textOf = async (key: string, value: unknown): Promise<string | undefined> => {
    if (typeof value === 'string') {
      if (!WITH_PASSWORD.test(value)) return value;
      throw refuse(`${key} has a password in it: say where it is, { env = "NAME" } or { file = "PATH" }.`, key);
    }
    const [[kind, at] = [], ...others] = isPlainObject(value) ? Object.entries(value) : [];
    if (others.length > 0 || typeof at !== 'string' || (kind !== 'env' && kind !== 'file')) return undefined;
    if (kind === 'file') {
      const bytes = await readFile(at).catch((cause: unknown) => {
        throw refuse(`${key} refers to ${at}, which cannot be read (${codeOf(cause) ?? 'unknown'}).`, key);
      });
      return textFrom(bytes, `${path}: the file ${at} of ${key}`).replace(/\r?\n$/, '');
    }
    const text = env[at];
    if (text === undefined) throw refuse(`${key} refers to the variable ${at}, which is not set.`, key);
    return text;
  };

  /** The value of a key as the flag of that name would have been parsed. */
  const settingOf = async (key: string, flag: Declared, value: unknown): Promise<unknown> => {
    if (flag.type === 'boolean') {
      if (typeof value === 'boolean') return value;
      throw refuse(`${key} must be true or false.`, key);
    }
    if (flag.multiple === true) {
      const texts = Array.isArray(value) ? await Promise.all(value.map((one) => textOf(key, one))) : [undefined];
      if (!texts.includes(undefined)) return texts;
      throw refuse(`${key} must be a list of texts.`, key);
    }
    // A number that is written as one, so that a text is no number by mistake; a variable or a file holds text only.
    const isWhole = flag.whole === true && Number.isSafeInteger(value);
    const isText = flag.whole !== true || typeof value !== 'string';
    const text = isWhole ? String(value) : isText ? await textOf(key, value) : undefined;
    if (text === undefined) throw refuse(`${key} must be ${flag.whole === true ? 'a whole number' : 'a text'}.`, key);
    if (flag.options?.includes(text) === false) {
      const near = didYouMean(text, flag.options);
      throw refuse(`${key} must be one of ${flag.options.join(', ')}.${near}`, key);
    }
    return text;
  };

  const excludes = (key: string, other: string) => declared[key]?.exclusive?.includes(other) === true;
  const excluding = (key: string, others: readonly string[]) =>
    others.find((other) => excludes(key, other) || excludes(other, key));
  const flags: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings)) {
    const flag = keys.includes(key) ? declared[key] : undefined;
    if (flag === undefined) {
      const near = didYouMean(key, [...keys, SECRETS_KEY]);
      throw refuse(`molar serve has no setting ${key}.${near}`, key);
    }
    if (typed[key] !== undefined || excluding(key, Object.keys(typed)) !== undefined) continue;
    const other = excluding(key, Object.keys(flags));
    if (other !== undefined) throw refuse(`${key} and ${other} exclude each other.`, key);
    flags[key] = await settingOf(key, flag, value);
  }

  const secrets: Record<string, string> = {};
  if (!isPlainObject(secretTable)) throw refuse(`${SECRETS_KEY} must be a table.`, SECRETS_KEY);
  for (const [name, value] of Object.entries(secretTable)) {
    const key = `${SECRETS_KEY}.${name}`;
    if (!SECRETS.includes(name)) throw refuse(`There is no secret ${name}.${didYouMean(name, SECRETS)}`, key);
    const text = typeof value === 'string' ? undefined : await textOf(key, value);
    if (text === undefined) {
      throw refuse(`${key} must say where the secret is: { env = "NAME" } or { file = "PATH" }.`, key);
    }
    secrets[name] = text;
  }

  return {
    flags,
    secrets,
    locate(error) {
      const failure = failureOf(error);
      const isOurs = failure.items.some(
        ({ source }) => source?.startsWith('--') && Object.hasOwn(flags, source.slice(2)),
      );
      return isOurs ? reworded(failure, { message: `${path}: ${failure.message}` }) : error;
    },
  };
}

async function parseFile(path: string): Promise<Record<string, unknown>> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw usageFailure(`The configuration file ${path} cannot be read (${codeOf(cause) ?? 'unknown'}).`, {
      source: '--config',
      hint: 'Check the path and its permissions.',
    });
  });
  const text = textFrom(bytes, path);
  const isJson = path.endsWith('.json');
  const { parse } = isJson ? JSON : await import('smol-toml');
  try {
    const parsed: unknown = parse(text);
    if (isPlainObject(parsed)) return parsed;
    throw new Error('it is no object');
  } catch (cause) {
    // The messages of both parsers quote the file, which may hold what nobody should read in a log.
    const { line, column } = cause as { line?: number; column?: number };
    const where = line === undefined ? '' : ` (line ${line}, column ${column})`;
    throw usageFailure(`${path} is not ${isJson ? 'a JSON object' : 'TOML'}${where}.`, { source: '--config' });
  }
}

import { isTimeZone } from '../../catalog/fields/times.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { usageFailure } from '../failure.ts';
import { formatsFor } from '../output/formats.ts';
import { wrongReleases } from '../releases/address.ts';
import type { StoredConfig } from './config.ts';

/** One key of `molar config`. */
export interface ConfigKey {
  readonly key: string;
  readonly about: string;
  /** The flag whose default it is; none where it is read in another way. */
  readonly flag?: string;
  /** What a value must be, completing "format must be …"; undefined when it is right. */
  readonly wrong: (value: string, config: StoredConfig) => string | undefined;
}

export const CONFIG_KEYS: readonly ConfigKey[] = [
  {
    key: 'profile',
    about: 'Profile in use',
    wrong: (value, { profiles }) =>
      Object.hasOwn(profiles, value) ? undefined : `a profile: ${Object.keys(profiles).join(', ') || 'there is none'}`,
  },
  {
    key: 'format',
    flag: 'format',
    about: 'Output format, as --format',
    wrong: (value) => {
      const formats: readonly string[] = formatsFor('record');
      return formats.includes(value) ? undefined : `one of ${formats.join(', ')}`;
    },
  },
  {
    key: 'pageSize',
    flag: 'page-size',
    about: 'Records to request at a time, as --page-size',
    wrong: (value) => wrongNumber(value, 1, MAX_PAGE_SIZE),
  },
  {
    key: 'maxRetries',
    flag: 'max-retries',
    about: 'Retries after the first attempt, as --max-retries',
    wrong: (value) => wrongNumber(value, 0, 100),
  },
  {
    key: 'caCert',
    flag: 'ca-cert',
    about: 'PEM file of certificates to trust as well, as --ca-cert',
    wrong: (value) => (value.trim() === '' ? 'the path of a file' : undefined),
  },
  {
    // No default of the flag: the report of production has one of that name that is a filter too.
    key: 'timezone',
    about: 'Time zone of tables, and of dates and times given without one, such as America/Denver',
    wrong: (value) => (isTimeZone(value) ? undefined : 'an IANA time zone such as America/Denver'),
  },
  {
    key: 'releases',
    about: 'Address that molar version --check asks, and that molar was downloaded from',
    wrong: wrongReleases,
  },
];

/** The key of that name; throws a Failure (exit 2) that lists the known ones. `hint` is its next step. */
export function configKey(name: string, hint = 'molar config list shows them all.'): ConfigKey {
  const known = CONFIG_KEYS.find(({ key }) => key === name);
  if (known !== undefined) return known;
  throw usageFailure(`There is no config key of that name. Keys: ${CONFIG_KEYS.map(({ key }) => key).join(', ')}.`, {
    source: 'KEY',
    hint,
  });
}

/** Undefined where the key is not set. */
export function configValue(config: StoredConfig, { key }: ConfigKey): string | undefined {
  return key === 'profile' ? config.profile : Object.hasOwn(config.defaults, key) ? config.defaults[key] : undefined;
}

/** The config with a key set, or not set for undefined. Throws a Failure (exit 2) for a value that is not right. */
export function withValue(config: StoredConfig, key: ConfigKey, value: string | undefined): StoredConfig {
  const wrong = value === undefined ? undefined : key.wrong(value, config);
  if (wrong !== undefined) throw usageFailure(`${key.key} must be ${wrong}.`, { source: 'VALUE' });
  if (key.key === 'profile') {
    const { profile, ...rest } = config;
    return { ...rest, ...(value !== undefined && { profile: value }) };
  }
  const others = Object.entries(config.defaults).filter(([known]) => known !== key.key);
  return { ...config, defaults: Object.fromEntries(value === undefined ? others : [...others, [key.key, value]]) };
}

function wrongNumber(value: string, least: number, most: number): string | undefined {
  const right = /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most;
  return right ? undefined : `a whole number, ${least} to ${most}`;
}

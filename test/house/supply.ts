/** A package of package-lock.json, as far as it matters where it comes from and under which licence. */
export interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

export type Lock = Readonly<Record<string, Locked>>;

/** The packages of a lock file that people get who use molar, with their names; not those for development alone. */
export function production(lock: Lock): (Locked & { readonly name: string })[] {
  return Object.entries(lock)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, locked]) => ({ ...locked, name: path.split('node_modules/').at(-1) ?? '' }));
}

/** Licences that what is under the MIT licence may hold, as long as their texts go with it. */
const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']);

/**
 * Whether an SPDX expression can be met with permissive licences alone: one side of OR, every side of AND. `more` are
 * licences that are allowed besides. False for what is missing, unknown or no expression.
 */
export function isAllowed(expression: string | undefined, more: readonly string[] = []): boolean {
  const tokens = expression?.match(/[()]|[^\s()]+/g) ?? [];
  const either = (): boolean => {
    let met = both();
    while (tokens[0] === 'OR' && tokens.shift()) met = both() || met;
    return met;
  };
  const both = (): boolean => {
    let met = one();
    while (tokens[0] === 'AND' && tokens.shift()) met = one() && met;
    return met;
  };
  const one = (): boolean => {
    const token = tokens.shift() ?? '';
    if (token !== '(') return PERMISSIVE.has(token) || more.includes(token);
    const met = either();
    return tokens.shift() === ')' && met;
  };
  return either() && tokens.length === 0;
}

/** What is wrong with where a locked package comes from: one of the public registry, proven by its digest, names both. */
export function doubtful(lock: Lock): string[] {
  return Object.entries(lock).flatMap(([path, { version = '', resolved, integrity = '', link }]) => {
    if (path === '') return [];
    return [
      ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`${path} has no exact version`]),
      ...(/^sha512-[\w+/]{86}==$/.test(integrity) ? [] : [`${path} has no SHA-512 digest`]),
      ...(link === true || /^(?:git|file|http:)/.test(resolved ?? '') ? [`${path} is not from a registry`] : []),
      ...(resolved === undefined ? [] : [`${path} names an address, which may be one that others cannot reach`]),
    ];
  });
}

/** Every version that a manifest asks for, overrides of overrides included, that is no exact one. */
export function loose(asked: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(asked).flatMap(([name, version]) => {
    if (typeof version === 'object' && version !== null) return loose(version as Readonly<Record<string, unknown>>);
    return /^\d+\.\d+\.\d+$/.test(String(version)) ? [] : [`${name}@${version}`];
  });
}

/** A package of package-lock.json, as far as it matters where it comes from and under which licence. */
export interface Locked {
  /** Only where the folder has another name than the package: an alias. */
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  /** False where npm is not to build what has a binding.gyp. */
  readonly gypfile?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

export type Lock = Readonly<Record<string, Locked>>;

/** A locked package with its own name, and the folder it lies in. */
export type Named = Locked & { readonly name: string; readonly folder: string };

/** The packages of a lock file that npm installs beside molar; not those for development alone. */
export function installed(lock: Lock): Named[] {
  return Object.entries(lock)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(named);
}

/** The packages of a lock file that bundled files come from, by the paths of these files; node_modules may be a link. */
export function bundled(lock: Lock, inputs: readonly string[]): Named[] {
  const files = inputs.map((input) => input.replace(/^(?:\.\.\/.*?)(?=node_modules\/)/, ''));
  return Object.entries(lock)
    .filter(([path]) => path !== '' && files.some((file) => isOwnFile(path, file)))
    .map(named);
}

/** Whether a file belongs to the package in a folder, and not to one that lies inside it. */
const isOwnFile = (folder: string, file: string) =>
  file.startsWith(`${folder}/`) && !file.slice(folder.length).includes('/node_modules/');

const named = ([folder, locked]: [string, Locked]): Named => ({
  name: folder.split('node_modules/').at(-1) ?? '',
  ...locked,
  folder,
});

/** Licences that what is under the MIT licence may hold, as long as their texts go with it. */
const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']);

/** What is allowed besides where a library stays a file of its own. */
export const LGPL = ['LGPL-3.0-or-later'];

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

/** Every version that a manifest asks for, overrides of overrides included, that is no exact one; an alias has one, too. */
export function loose(asked: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(asked).flatMap(([name, version]) => {
    if (typeof version === 'object' && version !== null) return loose(version as Readonly<Record<string, unknown>>);
    return /^(?:npm:(?:@[\w-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version))
      ? []
      : [`${name}@${version}`];
  });
}

import { posix } from 'node:path';
import type { TreeFile } from './tree.ts';

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
/** Our folders, the capital-letter pages and the configuration files at the root; examples name other files. */
const PATH =
  /(?<![\w./-])(?:(?:src|test|bin|man|docs|\.ci)\/[\w./-]*|[A-Z][A-Z_]+\.md|(?:package|biome|tsconfig|package-lock)\.json)/g;

/** Relative links and named paths of a Markdown page that lead nowhere. `exists` is asked about paths from the root. */
export function deadEnds(
  page: TreeFile,
  exists: (path: string) => boolean,
  textOf: (path: string) => string,
): string[] {
  const problems: string[] = [];
  for (const [, target = ''] of page.text.matchAll(LINK)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const resolved = path === '' ? page.path : posix.join(posix.dirname(page.path), path);
    if (!exists(resolved)) problems.push(`${page.path} links to ${target}, which does not exist`);
    else if (anchor !== undefined && !anchorsOf(textOf(resolved)).includes(anchor)) {
      problems.push(`${page.path} links to ${target}, which has no such heading`);
    }
  }
  for (const [path] of page.text.matchAll(PATH)) {
    if (!exists(path.replace(/[./]+$/, ''))) problems.push(`${page.path} names ${path}, which does not exist`);
  }
  return problems;
}

function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A command line of ours in a page: the words before the first flag, and the flags. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** Command lines in fenced blocks and in backticks; a line that ends in `\` goes on. */
export function commandLinesOf(markdown: string): CommandLine[] {
  const fenced = [...markdown.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block = '']) =>
    block.replaceAll('\\\n', ' '),
  );
  const prose = markdown.replace(/^```\w*\n[\s\S]*?^```/gm, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...fenced.flatMap((block) => block.split('\n')), ...spans].flatMap((line) => {
    const [, rest] = /^(?:\$ )?(?:[A-Z_]+=\S+ )*molar(?=\s)([^|>;#]*)/.exec(line.trim()) ?? [];
    if (rest === undefined) return [];
    const tokens = rest
      .replace(/'[^']*'|"[^"]*"/g, "''")
      .trim()
      .split(/\s+/);
    const firstOther = tokens.findIndex((token) => !/^[a-z][a-z-]*$/.test(token));
    return [
      {
        words: firstOther < 0 ? tokens : tokens.slice(0, firstOther),
        flags: tokens.filter((token) => /^--[a-z]/.test(token)).map((token) => token.slice(2).split('=')[0] ?? ''),
      },
    ];
  });
}

/** Commands and their flags, as in oclif.manifest.json. */
export type Manifest = Readonly<Record<string, { readonly flags: Readonly<Record<string, unknown>> }>>;

/** What is wrong with a command line, or undefined. Words after the command's own are arguments. */
export function wrongCommandLine({ words, flags }: CommandLine, manifest: Manifest): string | undefined {
  const ids = words.map((_, at) => words.slice(0, at + 1).join(':'));
  const id = ids.findLast((name) => name in manifest);
  const topic = ids.at(-1) ?? '';
  if (id === undefined) {
    const isTopic = Object.keys(manifest).some((name) => name.startsWith(`${topic}:`));
    return isTopic && flags.length === 0 ? undefined : `no command: molar ${words.join(' ')}`;
  }
  const unknown = flags.filter((flag) => !(flag in (manifest[id]?.flags ?? {})) && flag !== 'help');
  return unknown.length === 0 ? undefined : `molar ${id.replaceAll(':', ' ')} has no --${unknown.join(', --')}`;
}

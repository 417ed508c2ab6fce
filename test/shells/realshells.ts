import { spawnSync } from 'node:child_process';

/** Shells of Unix, each with how it reads a script and nothing else. */
const SHELLS = {
  bash: ['bash', '--norc', '-c'],
  dash: ['dash', '-c'],
  zsh: ['zsh', '-f', '-c'],
  fish: ['fish', '--no-config', '-c'],
} as const;

export const REAL_SHELLS = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/** Prints its arguments after their number, each ended by NUL. */
const DEFINED = `args() { printf '%s\\0' "$#" "$@"; }`;
const DEFINED_IN_FISH = `function args; printf '%s\\0' (count $argv) $argv; end`;

/** Whether the shell is on this machine; with CI=true it has to be. */
export function isMissing(shell: keyof typeof SHELLS): boolean {
  return process.env.CI !== 'true' && spawnSync(shell, ['-c', 'true']).status !== 0;
}

/** What lines such as `args one 'two words'` give to `args`, each line typed into the shell itself. */
export function typedInto(shell: keyof typeof SHELLS, lines: readonly string[], cwd?: string): string[][] {
  const [program, ...flags] = SHELLS[shell];
  const script = [shell === 'fish' ? DEFINED_IN_FISH : DEFINED, ...lines, ''].join('\n');
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const ran = spawnSync(program, [...flags, script], { encoding: 'utf8', env, cwd });
  if (ran.stderr !== '') throw new Error(ran.stderr);
  const words = ran.stdout.split('\0');
  const given: string[][] = [];
  for (let at = 0; at < words.length - 1; ) {
    const count = Number(words[at]);
    given.push(words.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return given;
}

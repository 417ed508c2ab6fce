import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import type { Completion } from './model.ts';
import { powershellScript } from './powershell.ts';
import { zshScript } from './zsh.ts';

/** The shells that have a completion script, each with the function that writes it. */
export const SHELL_SCRIPTS: Readonly<Record<string, (completion: Completion) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/**
 * A kind of shell that texts are written for. `sh`: every shell with its rules of quoting, fish and zsh too.
 * `powershell`: Windows PowerShell 5.1, which passes double quotes on unescaped. `pwsh`: PowerShell 7.3 and newer.
 */
export type Shell = 'sh' | 'powershell' | 'pwsh' | 'cmd';

/** Every one of them. */
export const SHELLS: readonly Shell[] = ['sh', 'powershell', 'pwsh', 'cmd'];

/** What a line to be typed begins with where a text shows one. */
export const PROMPTS: Readonly<Record<Shell, string>> = { sh: '$ ', powershell: 'PS> ', pwsh: 'PS> ', cmd: '> ' };

/**
 * The shell that the user types into, as the environment tells: MOLAR_SHELL where it names one. No process says who
 * started it on Windows, but shells leave variables: a PowerShell puts the user's folder of modules into PSModulePath,
 * where the system has its own only; cmd sets PROMPT; a shell of Unix sets SHELL. Where PowerShell and cmd both left
 * theirs it is taken for PowerShell, which runs a program's cmd file by cmd. Elsewhere only PowerShell sets
 * PSModulePath.
 */
export function shellOf(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): Shell {
  const chosen = SHELLS.find((shell) => shell === env.MOLAR_SHELL);
  if (chosen !== undefined) return chosen;
  const modules = env.PSModulePath ?? '';
  if (platform !== 'win32') return modules === '' ? 'sh' : 'pwsh';
  const own = modules.split(';').find((folder) => USERS_MODULES.test(folder));
  if (own !== undefined) return /windowspowershell/i.test(own) ? 'powershell' : 'pwsh';
  if (env.SHELL) return 'sh';
  return env.PROMPT ? 'cmd' : 'powershell';
}

/** A folder of modules outside of the system's, where installed programs have theirs. */
const USERS_MODULES = /^(?!.*[\\/](?:program files|windows[\\/]))(?:.*[\\/])(?:windows)?powershell[\\/]modules[\\/]?$/i;

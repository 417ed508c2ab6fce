import { describe, expect, it } from 'vitest';
import { type Shell, shellOf } from '../../src/shells/shell.ts';

const SYSTEM = 'C:\\Program Files\\WindowsPowerShell\\Modules;C:\\Windows\\system32\\WindowsPowerShell\\v1.0\\Modules';
const SQL_SERVER = `${SYSTEM};C:\\Program Files (x86)\\Microsoft SQL Server\\160\\Tools\\PowerShell\\Modules\\`;
const LEGACY = `C:\\Users\\ann\\OneDrive\\Dokumente\\WindowsPowerShell\\Modules;${SYSTEM}`;
const CORE = `C:\\Users\\ann\\Documents\\PowerShell\\Modules;C:\\Program Files\\PowerShell\\Modules;c:\\program files\\powershell\\7\\Modules;${SYSTEM}`;
const PROMPT = '$P$G';

describe('shellOf', () => {
  it.each<[name: string, env: Record<string, string>, platform: NodeJS.Platform, shell: Shell]>([
    ['cmd', { PSModulePath: SYSTEM, PROMPT }, 'win32', 'cmd'],
    ['cmd beside programs with modules of their own', { PSModulePath: SQL_SERVER, PROMPT }, 'win32', 'cmd'],
    ['Windows PowerShell', { PSModulePath: LEGACY }, 'win32', 'powershell'],
    ['a cmd file run by Windows PowerShell', { PSModulePath: LEGACY, PROMPT }, 'win32', 'powershell'],
    ['PowerShell 7', { PSModulePath: CORE }, 'win32', 'pwsh'],
    ['PowerShell 7 started by Windows PowerShell', { PSModulePath: `${CORE};${LEGACY}` }, 'win32', 'pwsh'],
    ['Git Bash', { PSModulePath: SYSTEM, SHELL: '/usr/bin/bash', MSYSTEM: 'MINGW64' }, 'win32', 'sh'],
    ['no shell on Windows', { PSModulePath: SYSTEM }, 'win32', 'powershell'],
    ['bash', { SHELL: '/bin/bash' }, 'linux', 'sh'],
    ['fish', { SHELL: '/usr/bin/fish' }, 'darwin', 'sh'],
    ['no shell', {}, 'linux', 'sh'],
    [
      'PowerShell on Linux',
      { SHELL: '/bin/bash', PSModulePath: '/opt/microsoft/powershell/7/Modules' },
      'linux',
      'pwsh',
    ],
    ['what MOLAR_SHELL names', { MOLAR_SHELL: 'cmd', PSModulePath: CORE }, 'win32', 'cmd'],
    ['the usual one where MOLAR_SHELL names none', { MOLAR_SHELL: 'tcsh' }, 'linux', 'sh'],
  ])('finds %s', (_, env, platform, shell) => {
    expect(shellOf(env, platform)).toBe(shell);
  });
});

import { powershellLiteral, quoteWord } from './quote.ts';
import type { Shell } from './shell.ts';

/** What ends the name of a file of settings, by the shell that reads it. */
const EXTENSIONS: Readonly<Record<Shell, string>> = { sh: '.env', powershell: '.ps1', pwsh: '.ps1', cmd: '.cmd' };

type Variables = Readonly<Record<string, string>>;

/**
 * Files that set variables in a shell, one for each kind of shell: their extensions and texts. Throws a RangeError for
 * values with quotes or line breaks, which no set of cmd holds.
 */
export function settingsFiles(variables: Variables): readonly { readonly extension: string; readonly text: string }[] {
  const lines = Object.entries(variables);
  const wrong = lines.find(([, value]) => /["\r\n\0]/.test(value));
  if (wrong !== undefined) throw new RangeError(`The value of ${wrong[0]} has quotes or line breaks.`);
  const text = (line: (name: string, value: string) => string) => lines.map((each) => line(...each)).join('');
  return [
    { extension: EXTENSIONS.sh, text: text((name, value) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`) },
    {
      extension: EXTENSIONS.pwsh,
      text: text((name, value) => `$env:${name} = ${powershellLiteral(value)}\r\n`),
    },
    { extension: EXTENSIONS.cmd, text: text((name, value) => `@set "${name}=${value.replaceAll('%', '%%')}"\r\n`) },
  ];
}

/** What is typed to take the settings over; `path` is that of the files, without an extension. */
export function settingsCommand(path: string, shell: Shell): string {
  const file = quoteWord(path + EXTENSIONS[shell], shell);
  if (shell === 'sh') return `source ${file}`;
  // Not run as a script, which most Windows machines do not allow. Brackets in a path are a pattern unless it is literal.
  return shell === 'cmd' ? `call ${file}` : `Get-Content -Raw -LiteralPath ${file} | Invoke-Expression`;
}

/** What is typed to make a name stand for a script of Node's, until the shell ends. */
export function nodeAlias(name: string, script: string, shell: Shell): string {
  const file = quoteWord(script, shell);
  if (shell === 'sh') return `alias ${name}=${quoteWord(`node ${file}`, shell)}`;
  return shell === 'cmd' ? `doskey ${name}=node ${file} $*` : `function ${name} { node ${file} @args }`;
}

import type { Candidate } from './model.ts';
import type { Typed } from './suggestions.ts';

/**
 * The completion script for PowerShell 5.1 and newer. It hands the line up to the cursor back to molar, which knows
 * what fits: base64 keeps quotes and blanks, which Windows PowerShell loses from arguments.
 */
export function powershellScript(): string {
  return `# PowerShell completion for molar. In $PROFILE: molar autocomplete powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName molar -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $length = $cursorPosition - $commandAst.Extent.StartOffset
  $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length)
  $asked = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes("$line\`n$wordToComplete"))
  molar autocomplete powershell --line $asked 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
  }
}
`;
}

/** What PowerShell asks about: the line up to the cursor, and the part of it that a completion replaces. */
interface CompletionRequest {
  readonly typed: Typed;
  /** Part of the word at the cursor that PowerShell keeps: it takes `id,last` for two words. */
  readonly kept: string;
}

/** Reads what the script sends: base64 of the line, a line feed, and the word that PowerShell would replace. */
export function readRequest(encoded: string): CompletionRequest {
  const text = Buffer.from(encoded, 'base64').toString();
  const end = text.lastIndexOf('\n');
  const words = wordsOf(end < 0 ? text : text.slice(0, end));
  const current = words.at(-1) ?? '';
  const replaced = unquoted(end < 0 ? '' : text.slice(end + 1));
  const kept = current.endsWith(replaced) ? current.slice(0, current.length - replaced.length) : '';
  return { typed: { before: words.slice(1, -1), current }, kept };
}

/** A candidate as the script reads it: what takes the place of the word, a tab, and what it is for. */
export function answerLine({ word, about }: Candidate, kept: string): string {
  const text = word.startsWith(kept) ? word.slice(kept.length) : word;
  return `${/[\s'"]/.test(text) ? `'${text.replaceAll("'", "''")}'` : text}\t${about}`;
}

/** The words of a line, their quotes taken off; the last one is empty after a blank. */
function wordsOf(line: string): string[] {
  const words = [''];
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const sign = line.charAt(at);
    if (quote === '' && /\s/.test(sign)) words.push('');
    else if (quote === '' && /['"]/.test(sign)) quote = sign;
    else if (sign === quote && line.charAt(at + 1) === quote) words[words.length - 1] += line.charAt(at++);
    else if (sign === quote) quote = '';
    else if (sign === '`' && quote !== "'") words[words.length - 1] += line.charAt(++at);
    else words[words.length - 1] += sign;
  }
  // Blanks between words make empty ones; an empty last word is where the cursor stands.
  return words.filter((word, at) => word !== '' || at === words.length - 1);
}

function unquoted(word: string): string {
  return wordsOf(word).join(' ');
}

import type { Candidate, Completion, ValueGroup } from './model.ts';

/** The completion script for PowerShell 5.1 and newer. */
export function powershellScript({ next, flags, flagValues, arguments: args }: Completion): string {
  return `# PowerShell completion for molar. In $PROFILE: molar autocomplete powershell | Out-String | Invoke-Expression

# Words that may follow a path of command words, with what they are for.
$MolarNext = @{
${next.map(({ path, words }) => `  ${quote(path)} = ${table(words)}`).join('\n')}
}

# Flags, and the commands that have them.
$MolarFlags = @(
${flags
  .map(({ paths, flags: own }) => `  @{ Paths = @(${paths.map(quote).join(', ')}); Words = ${table(own)} }`)
  .join('\n')}
)

# What is typed after a flag, by command and flag; * stands for every command.
$MolarValues = @{
${flagValues.flatMap(valueEntries).join('\n')}
}

# What commands take as arguments.
$MolarArguments = @{
${args.flatMap(valueEntries).join('\n')}
}

${ENGINE}`;
}

/** Text as one literal string of PowerShell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function table(candidates: readonly Candidate[]): string {
  return `[ordered]@{ ${candidates.map(({ word, about }) => `${quote(word)} = ${quote(about)}`).join('; ')} }`;
}

function valueEntries({ keys, values }: ValueGroup): string[] {
  const words = 'words' in values ? values.words : [];
  const value = `@{ Kind = ${quote(values.kind)}; Words = @(${words.map(quote).join(', ')}) }`;
  return keys.map((key) => `  ${quote(key)} = ${value}`);
}

const ENGINE = `Register-ArgumentCompleter -Native -CommandName molar -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $route = ''
  $left = $false
  for ($at = 1; $at -lt $words.Count; $at++) {
    $following = $MolarNext[$route]
    if ($null -eq $following -or -not $following.Contains($words[$at])) { $left = $true; break }
    $route = "$route $($words[$at])".Trim()
  }
  $offer = {
    param($word, $before, $about)
    $text = "$before$word"
    if ($text.StartsWith($wordToComplete, [StringComparison]::OrdinalIgnoreCase)) {
      $typed = if ($text -match "[\\s,']") { "'" + $text.Replace("'", "''") + "'" } else { $text }
      $tip = if ($about) { $about } else { $text }
      [System.Management.Automation.CompletionResult]::new($typed, $text, 'ParameterValue', $tip)
    }
  }
  $flag = ''
  $before = ''
  if ($wordToComplete -match '^(--[^=]+)=') { $flag = $Matches[1]; $before = "$flag=" }
  elseif ($words.Count -gt 1 -and $words[-1] -like '-*') { $flag = $words[-1] }
  $values = $null
  if ($flag) {
    $values = $MolarValues["$route $flag"]
    if ($null -eq $values) { $values = $MolarValues["* $flag"] }
  }
  if ($null -eq $values -and $wordToComplete -like '-*') {
    foreach ($group in $MolarFlags) {
      if ($group.Paths -contains $route) { foreach ($word in $group.Words.Keys) { & $offer $word '' $group.Words[$word] } }
    }
    return
  }
  if ($null -eq $values -and -not $left -and $MolarNext.Contains($route)) {
    foreach ($word in $MolarNext[$route].Keys) { & $offer $word '' $MolarNext[$route][$word] }
    return
  }
  if ($null -eq $values) { $values = $MolarArguments[$route] }
  if ($null -eq $values) { return }
  $rest = $wordToComplete.Substring($before.Length)
  if ($values.Kind -eq 'list' -and $rest -match '^.*,') { $before += $Matches[0] }
  if ($values.Kind -eq 'sort' -and $rest.StartsWith('-')) { $before += '-' }
  $known = $values.Words
  if ($values.Kind -eq 'profiles') { $known = @(molar profiles list --format csv --no-header --fields name 2>$null) }
  foreach ($word in $known) { & $offer $word $before '' }
}
`;

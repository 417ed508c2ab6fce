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

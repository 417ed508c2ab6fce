import {
  AutocompleteCommand,
  autocompleteArguments,
  autocompleteFlags,
} from '../cli/completion/autocompletecommand.ts';

export default class Autocomplete extends AutocompleteCommand {
  static override summary = 'Print a script that completes commands, flags and values in your shell';
  static override description =
    `The script holds every command, flag, listed value and field name and starts no process; only profile names are looked up when needed. Print it again after an update. The PowerShell script runs molar each time instead.
bash: add source <(molar autocomplete bash) to ~/.bashrc. zsh: add source <(molar autocomplete zsh) to ~/.zshrc, after compinit. fish: save it as ~/.config/fish/completions/molar.fish. PowerShell: add molar autocomplete powershell | Out-String | Invoke-Expression to $PROFILE.`;
  static override examples = [
    '<%= config.bin %> autocomplete bash > ~/.molar-completion.bash',
    '<%= config.bin %> autocomplete zsh',
    '<%= config.bin %> autocomplete fish > ~/.config/fish/completions/molar.fish',
    '<%= config.bin %> autocomplete powershell',
  ];
  static override args = autocompleteArguments;
  static override flags = autocompleteFlags;
}

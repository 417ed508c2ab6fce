import { LoginCommand } from '../cli/account/logincommand.ts';

export default class Login extends LoginCommand {
  static override summary = 'Save a connection to a server as a profile';
  static override description =
    'On a terminal it prompts for what is not given: address, organization, and a token or client id and secret. The ' +
    'address is tested at once, the connection before it is saved; what was wrong is asked again. The secret goes to the system keyring, or where that cannot be used to ' +
    'a file that only you can read, and is sent to this server only. Cron jobs and services often cannot use the ' +
    'keyring: log in with MOLAR_KEYRING=off for them.';
  static override examples = [
    '<%= config.bin %> login',
    '<%= config.bin %> login --url https://api.example.com --organization practice-1 --token-stdin < token.txt',
    "<%= config.bin %> login --profile work --url https://api.example.com --organization practice-1 --token-command 'pass show molar'",
    '<%= config.bin %> login --url https://api.example.com --organization practice-1 --client-id reports --client-secret-file secret.txt',
  ];
}

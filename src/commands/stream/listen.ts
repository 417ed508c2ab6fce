import { ListenCommand } from '../../cli/streaming/listencommand.ts';

export default class StreamListen extends ListenCommand {
  static override summary = 'Follow the streaming channel: every change, as it happens';
  static override description =
    'Messages arrive in the order of the changes, each at least once. A lost connection is retried without limit, from the last processed message on; Ctrl-C ends the command. molar help stream describes the messages.';
  static override examples = [
    '<%= config.bin %> stream listen',
    "<%= config.bin %> stream listen --key '*.*.PatientV1.*' --key '*.*.AppointmentV1.*' --format ndjson >> changes.ndjson",
    '<%= config.bin %> stream listen --name mirror --from beginning --forward-to http://localhost:3000/hook',
    "<%= config.bin %> stream listen --name notes --key '*.*.DocumentV1.CREATE' --exec 'node on-document.mjs'",
    '<%= config.bin %> stream listen --amqp amqps://reader@broker.example.com --name mirror',
  ];
}

// Receives the announcements of JOB_WEBHOOK_URL and verifies their signatures.
// Copy this file into an empty folder, then: npm install standardwebhooks && JOB_WEBHOOK_SECRET=whsec_... node receiver.mjs 9000
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.JOB_WEBHOOK_SECRET);
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  try {
    const { job_id, status } = webhook.verify(body, request.headers);
    console.log(job_id, status);
    response.writeHead(204).end();
  } catch {
    console.log('rejected');
    response.writeHead(401).end(); // not from the service, or older than five minutes
  }
});
server.listen(Number(process.argv[2] ?? 9000), '127.0.0.1', () =>
  console.log(server.address().port),
);

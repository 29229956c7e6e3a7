$ trommel devices | grep -c cpu
1
$ trommel devices --json | head -5
{
  "trommel": "0.1.0",
  "command": "devices",
  "devices": [
    {

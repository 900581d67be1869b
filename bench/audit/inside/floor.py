# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Reads what an audit has to read, and nothing is done with it.

From Placement the providers and, over a few connections at once, what is held
on each of them; from each cell the compute nodes, the living servers and the
migrations in progress. Prints how many SELECTs that took.

usage: floor.py FILE

The file is JSON: "placement" is a URL, "connections" a number, and "cells" a
list with the arguments for the driver of each database, which is SQLite's
where there is no "host" and PyMySQL otherwise.
"""
from concurrent import futures
from http import client
import json
import queue
import sqlite3
import sys
from urllib import parse

QUERIES = (
    "SELECT uuid, host, hypervisor_hostname FROM compute_nodes "
    "WHERE deleted = 0",
    "SELECT uuid, host, node, vm_state, task_state FROM instances "
    "WHERE deleted = 0",
    "SELECT uuid, instance_uuid, status FROM migrations WHERE deleted = 0 "
    "AND status NOT IN ('confirmed', 'reverted', 'error', 'failed', "
    "'completed', 'cancelled', 'done')",
)


class Placement:
    """A connection to Placement."""

    def __init__(self, url):
        self._http = client.HTTPConnection(parse.urlsplit(url).netloc)

    def get(self, path):
        self._http.request('GET', path, headers={
            'OpenStack-API-Version': 'placement 1.14'})
        response = self._http.getresponse()
        body = response.read()
        if response.status != 200:
            sys.exit(f'{path}: {response.status}')
        return body


def read_placement(url, connections):
    listed = json.loads(Placement(url).get('/resource_providers'))
    waiting = queue.Queue()
    for provider in listed['resource_providers']:
        waiting.put(f'/resource_providers/{provider["uuid"]}/allocations')

    def read():
        placement = Placement(url)
        try:
            while True:
                placement.get(waiting.get_nowait())
        except queue.Empty:
            pass

    with futures.ThreadPoolExecutor(connections) as pool:
        for done in [pool.submit(read) for _ in range(connections)]:
            done.result()


def read_cell(where):
    if 'host' in where:
        import pymysql
        connection = pymysql.connect(**where)
    else:
        connection = sqlite3.connect(**where)
    cursor = connection.cursor()
    for query in QUERIES:
        cursor.execute(query)
        cursor.fetchall()
    connection.close()


def main():
    with open(sys.argv[1]) as file:
        what = json.load(file)
    read_placement(what['placement'], what['connections'])
    for cell in what['cells']:
        read_cell(cell)
    print(len(QUERIES) * len(what['cells']))


if __name__ == '__main__':
    main()

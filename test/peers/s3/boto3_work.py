"""Uploads a folder with boto3, lists, reads and copies it, downloads it to another, and deletes it.

Usage: boto3_work.py put|get|delete BUCKET FOLDER
"""

import os
import sys

import boto3
from boto3.s3.transfer import TransferConfig

verb, bucket, folder = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])


def listed_keys():
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, PaginationConfig={"PageSize": 5}
    )
    return [listed["Key"] for page in pages for listed in page.get("Contents", [])]


def put():
    s3.create_bucket(Bucket=bucket)
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            # Uploads of more than 8 MiB are sent in parts, several at once.
            s3.upload_file(path, bucket, os.path.relpath(path, folder))
    for key in listed_keys():
        metadata = {"from": "boto3"}
        source = {"Bucket": bucket, "Key": key}
        extra = {"Metadata": metadata, "MetadataDirective": "REPLACE"}
        # boto3 1.43 copies in parts with conditions, which copies.test.ts tries.
        s3.copy(source, bucket, key, extra, Config=TransferConfig(multipart_threshold=5 << 30))
        assert s3.head_object(Bucket=bucket, Key=key)["Metadata"] == metadata, key
    body = s3.get_object(Bucket=bucket, Key="text.txt", Range="bytes=1-2")["Body"].read()
    assert body == b"ex", body


def get():
    for key in listed_keys():
        path = os.path.join(folder, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        s3.download_file(bucket, key, path)


def delete():
    keys = [{"Key": key} for key in listed_keys()]
    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": keys})
    assert len(deleted["Deleted"]) == len(keys), deleted
    s3.delete_bucket(Bucket=bucket)
    assert bucket not in [each["Name"] for each in s3.list_buckets()["Buckets"]]


{"put": put, "get": get, "delete": delete}[verb]()
